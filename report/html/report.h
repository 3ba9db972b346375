// The report people open first: one HTML file with style, pictures and script inside. It opens
// from disk without network, in light and dark, on a phone. Its size is bounded whatever the
// history's: plots are bucketed, and only the first anomalies are shown in full. Everything that
// was recorded is escaped.
//
// Functions are pure but for write_html, which replaces the file at once, so that a reader never
// sees half of one.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "history/history.h"
#include "report/judgement.h"

namespace ordeal {

std::string render_html(const RunVerdict& verdict, const History& history);

// Fails with surroundings where the file can't be written.
Status write_html(const std::filesystem::path& path, const RunVerdict& verdict,
                  const History& history);
// A history without a run around it: `ordeal report HISTORY`.
Status write_html(const std::filesystem::path& path, const Judgement& judgement,
                  const History& history);

// The Judgement as a RunVerdict without seed, command and versions; the counts are taken from
// `history`.
RunVerdict bare_verdict(const Judgement& judgement, const History& history);

}  // namespace ordeal
