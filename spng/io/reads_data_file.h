#pragma once

#include "spng/io/data_file.h"
#include "spng/io/data_path.h"
#include "spng/io/uses_files.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Mix-in for components that read one data file while they are prepared.
class ReadsDataFile : public UsesFiles {
public:
    /// Empty if there is no such file: prepare() reports it.
    std::vector<std::filesystem::path> files_read() const override {
        return data_file_name().empty() ? std::vector<std::filesystem::path>{}
                                        : data_file_if_found(data_file_name());
    }

    /// The file as it was read. Empty before prepare(), and for a component that does without it.
    const std::optional<DataFile>& data_file() const { return m_data_file; }

protected:
    /// As configured. Empty if the component is to do without it.
    virtual const std::string& data_file_name() const = 0;

    /// Find the file on the data path and compute its checksum. Call in prepare(), before reading it.
    /// @param role  see DataFile
    /// @throws Error(Configuration) as find_data_file() and identify_data_file()
    DataFile& identify_file(const std::string& role) {
        return m_data_file.emplace(identify_data_file(role, find_data_file(data_file_name())));
    }

private:
    std::optional<DataFile> m_data_file;
};

} // namespace spng
