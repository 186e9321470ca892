// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/report_file.h"

#include "spng/core/error.h"
#include "spng/core/files/partial_file.h"

namespace spng::instrument {

void write_report_file(const std::filesystem::path& path, const std::string& text,
                       const std::string& option) {
    try {
        PartialFile file(path);
        file.write({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
        file.commit();
    } catch (const Error& error) {
        throw Error(ErrorKind::Output, {.what = "cannot write the file of " + option,
                                        .where = path.string(),
                                        .seen = error.text().seen,
                                        .expected = "a writable folder with enough space",
                                        .hint = "give " + option + " another path"});
    }
}

} // namespace spng::instrument
