// The documented views as JSON lines, for other tools.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "history/database.h"

namespace simrt::history {

/// Names of the documented views (v_*), sorted.
Result<std::vector<std::string>> view_names(Database& database);

/// Receives one line without its end; returning an error stops the export with it.
using LineSink = std::function<Status(std::string_view line)>;

/// Writes {"view": NAME, "row": {COLUMN: VALUE, ...}} a line, view by view and in the order of the columns;
/// all views when `views` is empty. Error: Usage for an unknown view.
Status export_views(Database& database, const std::vector<std::string>& views, const LineSink& sink);

}  // namespace simrt::history
