// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stand-ins for the parts of art and LArSoft that docs/examples/art uses, so that a machine without them compiles and
// runs the example. They have the names and the call signatures of the originals, and none of their code.

#include <any>
#include <cstddef>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

namespace cet {

class exception : public std::exception {
public:
    explicit exception(std::string category) : m_category(std::move(category)) {}
    const std::string& category() const { return m_category; }
    const char* what() const noexcept override { return m_text.c_str(); }

    template <class Part>
    exception& operator<<(const Part& part) {
        std::ostringstream text;
        text << part;
        m_text += text.str();
        return *this;
    }

private:
    std::string m_category;
    std::string m_text;
};

} // namespace cet

namespace fhicl {

class ParameterSet {
public:
    template <class T>
    void put(const std::string& key, T value) {
        m_values[key] = std::move(value);
    }
    template <class T>
    T get(const std::string& key) const {
        return std::any_cast<T>(m_values.at(key));
    }
    template <class T>
    T get(const std::string& key, const T& otherwise) const {
        return m_values.count(key) ? get<T>(key) : otherwise;
    }

private:
    std::map<std::string, std::any> m_values;
};

} // namespace fhicl

namespace art {

using EventNumber_t = unsigned;

struct InputTag {
    std::string label;
};

template <class T>
class ValidHandle {
public:
    explicit ValidHandle(const T& product) : m_product(&product) {}
    const T& operator*() const { return *m_product; }
    const T* operator->() const { return m_product; }

private:
    const T* m_product;
};

class Event {
public:
    explicit Event(EventNumber_t ident) : m_ident(ident) {}
    EventNumber_t event() const { return m_ident; }

    template <class T>
    ValidHandle<T> getValidHandle(const InputTag& tag) const {
        return ValidHandle<T>(*std::any_cast<std::shared_ptr<T>>(m_products.at(key<T>(tag.label))));
    }
    template <class T>
    void put(std::unique_ptr<T> product, const std::string& label = "") {
        m_products[key<T>(label)] = std::shared_ptr<T>(std::move(product));
    }

private:
    template <class T>
    static std::pair<std::string, std::type_index> key(const std::string& label) {
        return {label, typeid(T)};
    }
    EventNumber_t m_ident;
    std::map<std::pair<std::string, std::type_index>, std::any> m_products;
};

class EDProducer {
public:
    explicit EDProducer(const fhicl::ParameterSet&) {}
    virtual ~EDProducer() = default;
    virtual void produce(Event& event) = 0;

protected:
    template <class Product>
    void produces() {}
};

template <class T>
class Ptr {
public:
    explicit Ptr(std::size_t key) : m_key(key) {}
    template <class Handle>
    Ptr(const Handle& handle, std::size_t key) : m_key(key), m_item(&handle->at(key)) {}
    std::size_t key() const { return m_key; }
    const T* get() const { return m_item; }

private:
    std::size_t m_key;
    const T* m_item = nullptr;
};

template <class T>
class PtrMaker {
public:
    explicit PtrMaker(const Event&) {}
    Ptr<T> operator()(std::size_t key) const { return Ptr<T>(key); }
};

template <class Left, class Right>
class Assns : public std::vector<std::pair<Ptr<Left>, Ptr<Right>>> {
public:
    void addSingle(const Ptr<Left>& left, const Ptr<Right>& right) { this->emplace_back(left, right); }
};

} // namespace art

#define DEFINE_ART_MODULE(Module)                                                                            \
    std::unique_ptr<art::EDProducer> make_module(const fhicl::ParameterSet& parameters) {                    \
        return std::make_unique<Module>(parameters);                                                         \
    }

namespace geo {

enum View_t { kU, kV, kW, kZ = kW };

} // namespace geo

namespace raw {

using ChannelID_t = unsigned;
enum Compress_t { kNone };

class RawDigit {
public:
    using ADCvector_t = std::vector<short>;
    RawDigit(ChannelID_t channel, std::size_t samples, ADCvector_t adc, Compress_t compression = kNone)
        : m_channel(channel), m_samples(samples), m_adc(std::move(adc)), m_compression(compression) {}
    ChannelID_t Channel() const { return m_channel; }
    std::size_t Samples() const { return m_samples; }
    const ADCvector_t& ADCs() const { return m_adc; }
    float GetPedestal() const { return 0; }
    Compress_t Compression() const { return m_compression; }

private:
    ChannelID_t m_channel;
    std::size_t m_samples;
    ADCvector_t m_adc;
    Compress_t m_compression;
};

inline void Uncompress(const std::vector<short>& adc, std::vector<short>& uncompressed, int, Compress_t) {
    uncompressed = adc;
}

} // namespace raw

namespace lar {

template <class T>
class sparse_vector {
public:
    template <class Iterator>
    void add_range(std::size_t offset, Iterator first, Iterator last) {
        m_ranges.emplace_back(offset, std::vector<T>(first, last));
    }
    void resize(std::size_t size) { m_size = size; }
    std::size_t size() const { return m_size; }
    const std::vector<std::pair<std::size_t, std::vector<T>>>& ranges() const { return m_ranges; }

private:
    std::size_t m_size = 0;
    std::vector<std::pair<std::size_t, std::vector<T>>> m_ranges;
};

} // namespace lar

namespace recob {

class Wire {
public:
    using RegionsOfInterest_t = lar::sparse_vector<float>;
    Wire(RegionsOfInterest_t&& regions, raw::ChannelID_t channel, geo::View_t view)
        : m_regions(std::move(regions)), m_channel(channel), m_view(view) {}
    const RegionsOfInterest_t& SignalROI() const { return m_regions; }
    raw::ChannelID_t Channel() const { return m_channel; }
    geo::View_t View() const { return m_view; }

private:
    RegionsOfInterest_t m_regions;
    raw::ChannelID_t m_channel;
    geo::View_t m_view;
};

} // namespace recob
