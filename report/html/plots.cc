#include "report/html/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "report/html/escape.h"
#include "report/words.h"

namespace ordeal {
namespace {

constexpr double kLeft = 100;  // of the plots; what is left of it are labels
constexpr double kRight = 948;
constexpr double kLaneHeight = 18;
constexpr double kGap = 26;  // between panels, holds the next one's title
constexpr std::size_t kSpansMax = 500;
constexpr int kFaultColours = 6;

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

// A figure of a bucket; nullopt where there is nothing to plot.
using Figure = std::function<std::optional<double>(std::size_t bucket)>;

struct Series {
  std::string name;
  std::string style;  // CSS classes
  Figure figure;
};

struct Panel {
  std::string title;
  double height = 0;
  bool logarithmic = false;
  bool filled = false;
  std::vector<Series> series;
};

// The least of 1, 2, 5, 10, ... (times any power of ten) that is not below `value`.
double round_up(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double digit : {1.0, 2.0, 5.0}) {
    if (digit * power >= value * 0.999999) return digit * power;
  }
  return 10 * power;
}

std::string figure_text(double value) {
  if (value >= 1000) return with_commas(static_cast<std::uint64_t>(std::llround(value)));
  return fmt::format("{:.3g}", value);
}

std::string milliseconds_text(Nanoseconds time) {
  return figure_text(static_cast<double>(time.count()) / 1e6) + " ms";
}

class Timeline {
 public:
  explicit Timeline(const HistoryFacts& facts) : facts_(facts) {
    for (const FaultSpan& span : facts.faults) kinds_.emplace(span.fault, 0);
    int next = 0;
    for (auto& [name, number] : kinds_) number = next++;
  }

  std::string draw() {
    const double top = static_cast<double>(kinds_.size()) * kLaneHeight + (kinds_.empty() ? 0 : 6);
    std::string body = fault_lanes();
    double y = top;
    for (const Panel& panel : panels()) {
      y += kGap;
      body += draw_panel(panel, y);
      y += panel.height;
    }
    return fmt::format(
               "<svg viewBox=\"0 0 960 {:.0f}\" role=\"img\" aria-label=\"Operations and faults "
               "over time\">\n",
               y + 40) +
           shades(y) + body + time_axis(y) + hover_boxes(y) + "</svg>\n";
  }

 private:
  double x_of(Nanoseconds time) const {
    const double length = std::max(seconds(facts_.range.end - facts_.range.begin), 1e-9);
    const double part = seconds(time - facts_.range.begin) / length;
    return kLeft + std::clamp(part, 0.0, 1.0) * (kRight - kLeft);
  }

  TimeRange bucket_range(std::size_t bucket) const {
    const Nanoseconds begin =
        facts_.range.begin + facts_.rates.bucket * static_cast<std::int64_t>(bucket);
    return {begin, std::min(begin + facts_.rates.bucket, facts_.range.end)};
  }

  // The last bucket is rarely full: its rate is that of the time it covers, unless that is too
  // short to tell.
  Figure rate_of(std::uint64_t OutcomeCounts::*outcome) const {
    return [this, outcome](std::size_t bucket) -> std::optional<double> {
      const TimeRange range = bucket_range(bucket);
      const double length = seconds(range.end - range.begin);
      if (bucket > 0 && length < seconds(facts_.rates.bucket) / 2) return std::nullopt;
      return static_cast<double>(facts_.rates.buckets[bucket].outcomes.*outcome) /
             std::max(length, 1e-9);
    };
  }

  Figure latency(Nanoseconds RateBucket::*quantile) const {
    return [this, quantile](std::size_t bucket) -> std::optional<double> {
      const RateBucket& figures = facts_.rates.buckets[bucket];
      if (figures.outcomes.ok == 0 || (figures.*quantile).count() <= 0) return std::nullopt;
      return static_cast<double>((figures.*quantile).count()) / 1e6;
    };
  }

  std::vector<Panel> panels() const {
    std::vector<Panel> panels = {
        {"ok per second", 110, false, true, {{"", "s-ok", rate_of(&OutcomeCounts::ok)}}}};
    if (facts_.outcomes.fail > 0) {
      panels.push_back({"fail per second (certainly did not happen)",
                        60,
                        false,
                        true,
                        {{"", "s-fail", rate_of(&OutcomeCounts::fail)}}});
    }
    if (facts_.outcomes.info > 0) {
      panels.push_back({"info per second (may have happened)",
                        60,
                        false,
                        true,
                        {{"", "s-info", rate_of(&OutcomeCounts::info)}}});
    }
    panels.push_back({"latency of ok operations, ms: median, 95 % (dashed), longest (dotted)",
                      110,
                      true,
                      false,
                      {{"longest", "s-slow dot", latency(&RateBucket::latency_max)},
                       {"95 %", "s-slow dash", latency(&RateBucket::latency_p95)},
                       {"median", "s-ok", latency(&RateBucket::latency_median)}}});
    return panels;
  }

  std::string fault_lanes() const {
    std::string text;
    for (const auto& [name, number] : kinds_) {
      text += fmt::format(
          "<text class=\"soft\" x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          kLeft - 8, number * kLaneHeight + 13, html(shorten(name, 14)));
    }
    return text + spans([&](const FaultSpan& span, double x, double width) {
             const std::string words =
                 fmt::format("{} on {}, {} to {}{}\n{}", span.fault, joined(span.hosts),
                             seconds_text(span.range.begin), seconds_text(span.range.end),
                             span.healed ? "" : " (never healed)", span.detail);
             return fmt::format(
                 "<rect class=\"bar f{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                 "height=\"12\" rx=\"2\"><title>{}</title></rect>\n",
                 kinds_.at(span.fault) % kFaultColours, x, kinds_.at(span.fault) * kLaneHeight + 3,
                 width, html(shorten(words, 400)));
           });
  }

  std::string shades(double bottom) const {
    return spans([&](const FaultSpan& span, double x, double width) {
      return fmt::format(
          "<rect class=\"shade f{}\" x=\"{:.1f}\" y=\"0\" width=\"{:.1f}\" height=\"{:.0f}\"/>\n",
          kinds_.at(span.fault) % kFaultColours, x, width, bottom);
    });
  }

  template <class Draw>
  std::string spans(Draw draw_span) const {
    std::string text;
    for (std::size_t i = 0; i < std::min(facts_.faults.size(), kSpansMax); ++i) {
      const FaultSpan& span = facts_.faults[i];
      const double x = x_of(span.range.begin);
      text += draw_span(span, x, std::max(x_of(span.range.end) - x, 1.5));
    }
    return text;
  }

  std::string draw_panel(const Panel& panel, double top) const {
    const auto [low, high] = limits(panel);
    const auto y_of = [&, low = low, high = high](double value) {
      const double part =
          panel.logarithmic ? std::log(value / low) / std::log(high / low) : value / high;
      return top + panel.height * (1 - std::clamp(part, 0.0, 1.0));
    };
    std::string text = fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
                                   kLeft, top - 7, panel.title);
    for (double tick = panel.logarithmic ? low : 0; tick <= high * 1.001;
         tick = panel.logarithmic ? tick * 10 : tick + high / 2) {
      text += fmt::format(
          "<path class=\"axis\" d=\"M{0:.0f} {2:.1f}H{1:.0f}\"/><text class=\"soft\" "
          "x=\"{3:.0f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
          kLeft, kRight, y_of(tick), kLeft - 8, y_of(tick) + 4, figure_text(tick));
    }
    for (const Series& series : panel.series)
      text += line(series, panel.filled, y_of, top + panel.height);
    return text;
  }

  // Whole decades for a logarithmic scale, from 0 for a linear one.
  std::pair<double, double> limits(const Panel& panel) const {
    double low = 1e300;
    double high = 0;
    for (const Series& series : panel.series) {
      for (std::size_t i = 0; i < facts_.rates.buckets.size(); ++i) {
        if (const auto value = series.figure(i)) {
          low = std::min(low, *value);
          high = std::max(high, *value);
        }
      }
    }
    if (!panel.logarithmic) return {0, round_up(high)};
    if (high <= 0) return {1, 10};
    low = std::pow(10, std::floor(std::log10(low)));
    return {low, std::max(std::pow(10, std::ceil(std::log10(high))), low * 10)};
  }

  // Steps, since a bucket's figure holds for all of it; interrupted where there is none.
  template <class Y>
  std::string line(const Series& series, bool filled, const Y& y_of, double bottom) const {
    std::string path;
    std::string area;
    bool pen_down = false;
    for (std::size_t i = 0; i < facts_.rates.buckets.size(); ++i) {
      const auto value = series.figure(i);
      if (value) {
        const TimeRange range = bucket_range(i);
        const double begin = x_of(range.begin);
        const double end = x_of(range.end);
        path +=
            fmt::format("{}{:.1f} {:.1f}H{:.1f}", pen_down ? 'L' : 'M', begin, y_of(*value), end);
        area += fmt::format("M{:.1f} {:.1f}V{:.1f}H{:.1f}V{:.1f}Z", begin, bottom, y_of(*value),
                            end, bottom);
      }
      pen_down = value.has_value();
    }
    const std::string fill =
        filled ? fmt::format("<path class=\"area {}\" d=\"{}\"/>", series.style, area) : "";
    return fill + fmt::format("<path class=\"line {}\" d=\"{}\"/>\n", series.style, path);
  }

  std::string time_axis(double bottom) const {
    const double length = seconds(facts_.range.end - facts_.range.begin);
    const double step = round_up(length / 10);
    const double first = std::ceil(seconds(facts_.range.begin) / step - 0.02) * step;
    std::string text;
    for (int i = 0; i <= 20; ++i) {
      const double tick = first + i * step;
      if (tick > seconds(facts_.range.end) + step * 1e-6) break;
      const double x = x_of(Nanoseconds(static_cast<std::int64_t>(tick * 1e9)));
      text += fmt::format(
          "<path class=\"axis\" d=\"M{0:.1f} {1:.0f}v5\"/><text class=\"soft\" x=\"{0:.1f}\" "
          "y=\"{2:.0f}\" text-anchor=\"middle\">{3}</text>\n",
          x, bottom, bottom + 19, figure_text(tick));
    }
    return text + fmt::format(
                      "<text class=\"soft\" x=\"{:.0f}\" y=\"{:.0f}\" "
                      "text-anchor=\"end\">seconds since the start</text>\n",
                      kRight, bottom + 36);
  }

  std::string hover_boxes(double bottom) const {
    std::string text;
    for (std::size_t i = 0; i < facts_.rates.buckets.size(); ++i) {
      const RateBucket& bucket = facts_.rates.buckets[i];
      const TimeRange range = bucket_range(i);
      const double x = x_of(range.begin);
      text += fmt::format(
          "<rect class=\"hover\" x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"{:.0f}\">"
          "<title>{} to {}: {}\nlatency: median {}, 95 % {}, longest {}</title></rect>\n",
          x, static_cast<double>(kinds_.size()) * kLaneHeight, x_of(range.end) - x,
          bottom - static_cast<double>(kinds_.size()) * kLaneHeight, seconds_text(range.begin),
          seconds_text(range.end), outcomes_text(bucket.outcomes),
          milliseconds_text(bucket.latency_median), milliseconds_text(bucket.latency_p95),
          milliseconds_text(bucket.latency_max));
    }
    return text;
  }

  const HistoryFacts& facts_;
  std::map<std::string, int> kinds_;  // of faults, with their lanes
};

}  // namespace

std::string timeline_svg(const HistoryFacts& facts) {
  if (facts.range.end <= facts.range.begin) return "";
  return Timeline(facts).draw();
}

}  // namespace ordeal
