// SPDX-License-Identifier: Apache-2.0
#include "spng/core/error_kind.h"

namespace spng {

const char* name_of(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::Usage:
        return "Usage";
    case ErrorKind::Configuration:
        return "Configuration";
    case ErrorKind::Input:
        return "Input";
    case ErrorKind::Output:
        return "Output";
    case ErrorKind::Device:
        return "Device";
    case ErrorKind::Model:
        return "Model";
    case ErrorKind::Internal:
        break;
    }
    return "Internal";
}

} // namespace spng
