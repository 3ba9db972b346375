#include "report/html/cycle.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "report/html/escape.h"
#include "report/words.h"

namespace ordeal {
namespace {

constexpr std::size_t kNodesMax = 16;
constexpr double kNodeRadius = 19;
constexpr double kCentreX = 210;

struct Point {
  double x = 0;
  double y = 0;
};

Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
Point operator*(Point a, double factor) { return {a.x * factor, a.y * factor}; }
Point unit(Point a) {
  const double length = std::hypot(a.x, a.y);
  return length == 0 ? Point{1, 0} : a * (1 / length);
}

struct Circle {
  Point centre;
  double radius = 0;
};

Circle circle_for(std::size_t nodes) {
  const double radius = nodes <= 2 ? 95 : 70 + 9 * static_cast<double>(nodes);
  return {{kCentreX, nodes <= 2 ? 60.0 : radius + 24}, radius};
}

// Two stand side by side; more start at the top and go round clockwise.
std::vector<Point> places(std::size_t nodes, const Circle& circle) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < nodes; ++i) {
    const double turn =
        static_cast<double>(i) / static_cast<double>(nodes) - (nodes == 2 ? 0.5 : 0.25);
    const double angle = 2 * std::numbers::pi * turn;
    points.push_back(circle.centre + Point{std::cos(angle), std::sin(angle)} * circle.radius);
  }
  return points;
}

std::string label_of(const Step& step) {
  std::string text = step.edge;
  if (step.key) text = fmt::format("{} {}", text, step.key->text());
  if (step.value && step.next_value) {
    text = fmt::format("{}: {} → {}", text, step.value->text(), step.next_value->text());
  } else if (step.value || step.next_value) {
    text = fmt::format("{}: {}", text, (step.value ? *step.value : *step.next_value).text());
  }
  return html(shorten(text, 40));
}

// A quadratic curve that bends to the left of its direction, so that there and back don't coincide.
std::string arrow(Point from, Point to, const Step& step) {
  const Point along = to - from;
  const Point middle = (from + to) * 0.5;
  const Point bend =
      middle + Point{along.y, -along.x} * (std::hypot(along.x, along.y) < 1 ? 0 : 0.3);
  const Point start = from + unit(bend - from) * kNodeRadius;
  const Point tip = to + unit(bend - to) * (kNodeRadius + 2);
  const Point back = unit(bend - to);
  const Point side{-back.y, back.x};
  const Point left = tip + back * 9 + side * 4.5;
  const Point right = tip + back * 9 - side * 4.5;
  const Point label = start * 0.25 + bend * 0.5 + tip * 0.25;
  return fmt::format(
      "<path d=\"M{:.1f} {:.1f}Q{:.1f} {:.1f} {:.1f} {:.1f}\"/>"
      "<path class=\"tip\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}Z\"/>"
      "<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
      start.x, start.y, bend.x, bend.y, tip.x, tip.y, tip.x, tip.y, left.x, left.y, right.x,
      right.y, label.x, label.y, label_of(step));
}

std::string node(Point place, const std::string& name) {
  return fmt::format(
      "<circle cx=\"{0:.1f}\" cy=\"{1:.1f}\" r=\"{2:.0f}\"/><text x=\"{0:.1f}\" "
      "y=\"{1:.1f}\">{3}</text>\n",
      place.x, place.y, kNodeRadius, html(name));
}

}  // namespace

std::string cycle_svg(const Anomaly& anomaly, const TransactionNames& names) {
  std::map<std::uint64_t, std::size_t> place_of;
  for (const Step& step : anomaly.steps) place_of.emplace(step.from, place_of.size());
  for (const Step& step : anomaly.steps) place_of.emplace(step.to, place_of.size());
  if (place_of.size() < 2 || place_of.size() > kNodesMax) return "";
  const Circle circle = circle_for(place_of.size());
  const std::vector<Point> points = places(place_of.size(), circle);
  std::string arrows;
  for (const Step& step : anomaly.steps) {
    arrows += arrow(points[place_of[step.from]], points[place_of[step.to]], step);
  }
  std::string nodes;
  for (const auto& [index, place] : place_of) {
    const auto name = names.find(index);
    nodes += node(points[place], name == names.end() ? std::to_string(index) : name->second);
  }
  double bottom = 0;
  for (const Point& point : points) bottom = std::max(bottom, point.y);
  const double half = circle.radius + 110;
  return fmt::format(
             "<svg class=\"cycle\" viewBox=\"{:.0f} 0 {:.0f} {:.0f}\" role=\"img\" "
             "aria-label=\"The cycle of dependencies\">\n",
             kCentreX - half, 2 * half, bottom + (points.size() == 2 ? 60 : 50)) +
         arrows + nodes + "</svg>\n";
}

}  // namespace ordeal
