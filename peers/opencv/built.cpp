/* How OpenCV was built: its compiler's flags for speed, the instructions that it picks from (those
 * with a star where this processor has them) and what shares out its work. */
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>

#include <cstdio>
#include <sstream>
#include <string>

#include "peers/versions.h"

/* What stands behind `key` in the library's account of itself; "": there is no such line. */
static std::string told(const std::string &account, const std::string &key) {
  const size_t at = account.find(key);
  if (at == std::string::npos) return "";
  const size_t from = account.find_first_not_of(' ', at + key.size());
  return account.substr(from, account.find('\n', from) - from);
}

/* " -O2 -msse2": the flags that say how fast it is, each once. */
static std::string for_speed(const std::string &flags) {
  std::istringstream words(flags);
  std::string word, found;
  while (words >> word)
    if ((word.rfind("-O", 0) == 0 || word.rfind("-m", 0) == 0) &&
        (found + " ").find(" " + word + " ") == std::string::npos)
      found += " " + word;
  return found;
}

extern "C" void peer_opencv_built(const char *version, char *text, size_t size) {
  const std::string account = cv::getBuildInformation();
  snprintf(text, size, "%s,%s, %s, %s", version,
           for_speed(told(account, "C++ flags (Release):")).c_str(),
           told(account, "Parallel framework:").c_str(), cv::getCPUFeaturesLine().c_str());
}
