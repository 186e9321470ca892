// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_rows.h"
#include "spng/kernels/launch.h"
#include "spng/nodes/frame/row_tiles.h"

#include <array>

namespace spng::kernels {

namespace {

/// Pointers to the samples of the sources; null beyond the last one.
template <class T>
std::array<const T*, max_row_sources> pointers(at::TensorList sources) {
    std::array<const T*, max_row_sources> all{};
    for (std::size_t i = 0; i < sources.size(); ++i) {
        all.at(i) = sources[i].const_data_ptr<T>();
    }
    return all;
}

template <class Real>
void launch_gather_rows(const char* kernel, at::TensorList sources, const at::Tensor& origins,
                        const at::Tensor& extents, const at::Tensor& tiles, std::int64_t first_tile,
                        const at::Tensor& values) {
    const auto from = pointers<Real>(sources);
    const std::int64_t rows = origins.size(0);
    launch(kernel, values.device(), blocks_for(rows, 1), 0, from[0], from[1], from[2], from[3],
           origins.const_data_ptr<std::int32_t>(), rows, sources[0].size(-1),
           extents.const_data_ptr<std::int32_t>(), tiles.const_data_ptr<std::int64_t>(), first_tile,
           values.mutable_data_ptr<float>());
}

} // namespace

void gather_words(at::TensorList sources, const at::Tensor& origins, std::int64_t factor, std::int64_t ticks,
                  const at::Tensor& words, const at::Tensor& extents, const at::Tensor& tiles) {
    static_assert(max_row_sources == 4, "the parameters of the kernels");
    const auto from = pointers<std::int64_t>(sources);
    const std::int64_t rows = origins.size(0);
    launch("gather_words", words.device(), blocks_for(rows, rows_of_tile),
           rows_of_tile * static_cast<std::int64_t>(sizeof(unsigned)), from[0], from[1], from[2], from[3],
           origins.const_data_ptr<std::int32_t>(), rows, sources[0].size(-1), factor, ticks,
           words.mutable_data_ptr<std::int64_t>(), extents.mutable_data_ptr<std::int32_t>(),
           tiles.mutable_data_ptr<std::int64_t>());
}

void gather_rows(at::TensorList sources, const at::Tensor& origins, const at::Tensor& extents,
                 const at::Tensor& tiles, std::int64_t first_tile, const at::Tensor& values) {
    sources[0].scalar_type() == at::kFloat
        ? launch_gather_rows<float>("gather_rows_float32", sources, origins, extents, tiles, first_tile,
                                    values)
        : launch_gather_rows<double>("gather_rows_float64", sources, origins, extents, tiles, first_tile,
                                     values);
}

} // namespace spng::kernels
