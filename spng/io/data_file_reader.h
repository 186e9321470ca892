// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/data_file.h"
#include "spng/io/data_path.h"
#include "spng/io/file_user.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Mix-in for components that read one data file in prepare().
class DataFileReader : public FileUser {
public:
    /// Return the path of the data file. Empty if there is no such file: prepare() reports that.
    std::vector<std::filesystem::path> files_read() const override {
        return data_file_name().empty() ? std::vector<std::filesystem::path>{}
                                        : data_file_if_found(data_file_name());
    }

    /// Return the identity of the file. Empty before prepare(), and for a component configured without a
    /// file.
    const std::optional<DataFile>& data_file() const { return m_data_file; }

protected:
    /// Return the configured name. Empty if the component is configured without a file.
    virtual const std::string& data_file_name() const = 0;
    /// Return the public repository of the file, see find_data_file().
    virtual std::string data_file_source() const { return {}; }

    /// Find the file on the data path and compute its checksum. Call in prepare(), before reading it.
    /// @param role  see DataFile
    /// @throws Error(Configuration) as find_data_file() and identify_data_file()
    DataFile& identify_file(const std::string& role) {
        return m_data_file.emplace(
            identify_data_file(role, find_data_file(data_file_name(), data_file_source())));
    }

private:
    std::optional<DataFile> m_data_file;
};

} // namespace spng
