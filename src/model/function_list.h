// The functions of a program. A changed program holds most of them in common with the one that it was made
// of: they are shared, not copied, and so nobody changes one that is in a list.
#pragma once

#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "model/facts.h"

namespace simrt {

/// Like a vector of constant functions; a place in it can be given another function as a whole.
/// References to functions stay valid as long as some list holds them.
class FunctionList {
 public:
  using Shared = std::shared_ptr<const FunctionFacts>;

  class const_iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = FunctionFacts;
    using difference_type = std::ptrdiff_t;
    using pointer = const FunctionFacts*;
    using reference = const FunctionFacts&;

    const_iterator() = default;
    explicit const_iterator(const Shared* at) : at_(at) {}
    reference operator*() const { return **at_; }
    pointer operator->() const { return at_->get(); }
    reference operator[](difference_type by) const { return *at_[by]; }
    const_iterator& operator++() { return *this += 1; }
    const_iterator& operator--() { return *this -= 1; }
    const_iterator operator++(int) { return const_iterator(at_++); }
    const_iterator operator--(int) { return const_iterator(at_--); }
    const_iterator& operator+=(difference_type by) { return at_ += by, *this; }
    const_iterator& operator-=(difference_type by) { return at_ -= by, *this; }
    friend const_iterator operator+(const_iterator a, difference_type by) { return a += by; }
    friend const_iterator operator+(difference_type by, const_iterator a) { return a += by; }
    friend const_iterator operator-(const_iterator a, difference_type by) { return a -= by; }
    friend difference_type operator-(const_iterator a, const_iterator b) { return a.at_ - b.at_; }
    auto operator<=>(const const_iterator&) const = default;

   private:
    const Shared* at_ = nullptr;
  };
  using value_type = FunctionFacts;

  FunctionList() = default;
  FunctionList(std::initializer_list<FunctionFacts> functions) : FunctionList(std::vector(functions)) {}
  explicit FunctionList(std::vector<FunctionFacts> functions) {
    for (FunctionFacts& function : functions) push_back(std::move(function));
  }

  std::size_t size() const { return items_.size(); }
  bool empty() const { return items_.empty(); }
  const FunctionFacts& operator[](std::size_t i) const { return *items_[i]; }
  const FunctionFacts& back() const { return *items_.back(); }
  const_iterator begin() const { return const_iterator(items_.data()); }
  const_iterator end() const { return const_iterator(items_.data() + items_.size()); }
  /// For another list.
  const Shared& shared(std::size_t i) const { return items_[i]; }

  void reserve(std::size_t size) { items_.reserve(size); }
  void push_back(FunctionFacts function) {
    items_.push_back(std::make_shared<const FunctionFacts>(std::move(function)));
  }
  void push_back(Shared function) { items_.push_back(std::move(function)); }
  void replace(std::size_t i, FunctionFacts function) {
    items_[i] = std::make_shared<const FunctionFacts>(std::move(function));
  }
  /// Ascending id; of several with one id the first stays.
  void sort_unique();

  friend bool operator==(const FunctionList& a, const FunctionList& b);

 private:
  std::vector<Shared> items_;
};

}  // namespace simrt
