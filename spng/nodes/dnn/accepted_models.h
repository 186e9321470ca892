// SPDX-License-Identifier: Apache-2.0
#pragma once
// Restrict the networks that a process may load, by checksum. A network is a program: a TorchScript file can loop for
// ever, and an AOTInductor package is native code.

#include "spng/io/data_file.h"

#include <filesystem>
#include <string>

namespace spng {

/// Word for the networks in this project's data folder.
inline constexpr const char* shipped_models = "shipped";

/// Accept only networks of a list of checksums from now on. Without a call the variable SPNG_ONLY_MODELS gives the
/// list, and without that every network is accepted. Not thread-safe: call it before a job is prepared.
/// @param list  shipped_models, or a file as sha256sum writes it
/// @throws Error(Usage) if the list cannot be read or has no checksum
void accept_only_models(const std::string& list);

/// Accept every network, also if SPNG_ONLY_MODELS is set.
void accept_all_models();

/// Call before a network is loaded.
/// @throws Error(Model) if the file's checksum is not in the list; a pipe has none
void require_accepted_model(const DataFile& file);

/// Call before a network on another machine is used: its checksum is only what the server reports.
/// @throws Error(Model) if only networks of a list are accepted
void reject_remote_model_if_restricted(const std::string& server);

} // namespace spng
