// Text into HTML. Whatever was recorded passes through here on its way into the page.
#pragma once

#include <string>
#include <string_view>

namespace ordeal {

// For element content and quoted attributes. Bytes that are no UTF-8, and control characters that
// HTML forbids, become U+FFFD.
std::string html(std::string_view text);

// A relative path as the value of an href: percent-encoded, and never a scheme such as javascript:.
std::string html_href(std::string_view relative_path);

}  // namespace ordeal
