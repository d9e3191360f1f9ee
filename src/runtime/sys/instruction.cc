#include "sys/instruction.h"

namespace simrt::runtime {
namespace {

// What follows an opcode:
//   .  nothing           m  ModRM             x  no such instruction   p  a prefix: another opcode follows
//   b  1 byte            B  ModRM, 1 byte     w  2 bytes               e  3 bytes
//   z  4 bytes (2 with an operand size prefix), Z  the same behind ModRM, v  8 with REX.W, else like z
//   r  4 bytes           o  an address        g  ModRM, and 1 byte for two of eight operations, G  like z
constexpr char kOneByte[257] =
    "mmmmbzxxmmmmbzxx"  // 00; 0f: kTwoByte
    "mmmmbzxxmmmmbzxx"
    "mmmmbzpxmmmmbzpx"
    "mmmmbzpxmmmmbzpx"
    "pppppppppppppppp"  // 40: REX
    "................"
    "xxxmppppzZbB...."  // 60; 62: EVEX
    "bbbbbbbbbbbbbbbb"
    "BZxBmmmmmmmmmmmm"  // 80
    "..........x....."
    "oooo....bz......"
    "bbbbbbbbvvvvvvvv"
    "BBw.xxBZe.w..bx."  // c0; c4, c5: VEX
    "mmmmxxx.mmmmmmmm"
    "bbbbbbbbrrxb...."
    "p.pp..gG......mm";
constexpr char kTwoByte[257] =
    "mmmmx.....x.xm.B"
    "mmmmmmmmmmmmmmmm"
    "mmmmxxxxmmmmmmmm"
    "......x.xxxxxxxx"  // 38, 3a: three bytes
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "BBBBmmm.mmxxmmmm"
    "rrrrrrrrrrrrrrrr"
    "mmmmmmmmmmmmmmmm"
    "...mBmxx...mBmmm"
    "mmmmmmmmmmBmmmmm"
    "mmBmBBBm........"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm";

constexpr uint32_t kLongest = 15;

class Decoder {
 public:
  Decoder(const uint8_t* code, const uint8_t* end) : code_(code) {
    const auto left = static_cast<uint64_t>(end - code);
    size_ = left < kLongest ? static_cast<uint32_t>(left) : kLongest;
  }

  uint32_t length() {
    operands(opcode());
    return ok_ && at_ <= size_ ? at_ : 0;
  }

 private:
  uint8_t next() {
    if (at_ < size_) return code_[at_++];
    ok_ = false;
    return 0;
  }

  char opcode() {
    for (;;) {
      const uint8_t byte = next();
      if (byte == 0xc5) return next(), vector(1);
      if (byte == 0xc4) {
        const uint8_t map = next() & 0x1f;
        return next(), vector(map);
      }
      if (byte == 0x62) {
        const uint8_t map = next() & 7;
        return next(), next(), vector(map);
      }
      if (byte == 0x0f) return two_byte(next());
      if (kOneByte[byte] != 'p') return kOneByte[byte];
      if (byte == 0x66) narrow_ = true;
      if (byte == 0x67) short_address_ = true;
      wide_ = byte >= 0x48 && byte <= 0x4f;
      if (!ok_) return 'x';
    }
  }

  char two_byte(uint8_t byte) {
    if (byte == 0x38) return next(), 'm';
    if (byte == 0x3a) return next(), 'B';
    return kTwoByte[byte];
  }

  char vector(uint8_t map) {
    const uint8_t byte = next();
    if (map == 1) return kTwoByte[byte] == 'r' ? 'm' : kTwoByte[byte];
    if (map == 3) return 'B';
    return map == 2 || map == 5 || map == 6 ? 'm' : 'x';
  }

  /// Returns the operation that ModRM names.
  uint8_t mod_rm() {
    const uint8_t byte = next(), mod = byte >> 6, rm = byte & 7;
    if (mod != 3) {
      const uint8_t base = rm == 4 ? next() & 7 : rm;
      if (mod == 1) at_ += 1;
      if (mod == 2 || (mod == 0 && base == 5)) at_ += 4;
    }
    return (byte >> 3) & 7;
  }

  void operands(char kind) {
    const uint32_t immediate = narrow_ ? 2 : 4;
    switch (kind) {
      case 'x':
        ok_ = false;
        return;
      case 'm':
        mod_rm();
        return;
      case 'b':
        at_ += 1;
        return;
      case 'B':
        mod_rm();
        at_ += 1;
        return;
      case 'w':
        at_ += 2;
        return;
      case 'e':
        at_ += 3;
        return;
      case 'r':
        at_ += 4;
        return;
      case 'z':
        at_ += immediate;
        return;
      case 'Z':
        mod_rm();
        at_ += immediate;
        return;
      case 'v':
        at_ += wide_ ? 8 : immediate;
        return;
      case 'o':
        at_ += short_address_ ? 4 : 8;
        return;
      case 'g':
        if (mod_rm() < 2) at_ += 1;
        return;
      case 'G':
        if (mod_rm() < 2) at_ += immediate;
        return;
      default:
        return;
    }
  }

  const uint8_t* code_;
  uint32_t size_, at_ = 0;
  bool ok_ = true, narrow_ = false, wide_ = false, short_address_ = false;
};

}  // namespace

uint32_t instruction_length(const uint8_t* code, const uint8_t* end) { return Decoder(code, end).length(); }

}  // namespace simrt::runtime
