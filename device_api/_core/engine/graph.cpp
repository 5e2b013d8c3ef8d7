#include "graph.hpp"

namespace device_api {

Graph::Graph(Device *device, Stream *stream) : device_(device), stream_(stream), before_(stream->sequence()) {
  stream_->reserved = true;
}

Failure *Graph::begin() {
  const Tables &tables = device_->tables();
  stream_->capturing = true;
  Failure *failure = translate(device_->errors(), tables.capture->begin(device_->handle(), stream_->handle),
                               "capture.begin");
  if (failure != nullptr) stream_->capturing = false;
  return failure;
}

void Graph::note(Storage *storage, bool write) {
  const auto known = positions_.find(storage);
  if (known == positions_.end()) {
    // What the recorded work itself has made needs no hold: its memory is of the graph's stream.
    const bool made_here =
        storage->home() == stream_ && storage->writer == stream_ && storage->written > before_;
    if (made_here) return;
    positions_[storage] = uses_.size();
    ++storage->references;
    uses_.push_back(Use{StorageRef(storage), false, nullptr, 0});
  }
  Use &use = uses_[positions_[storage]];
  if (!write || use.written) return;
  use.written = true;
  use.writer = storage->writer;
  use.work = storage->written;
}

Failure *Graph::end() {
  if (!stream_->capturing) return nullptr;
  const Tables &tables = device_->tables();
  Failure *failure = translate(
      device_->errors(), tables.capture->end(device_->handle(), stream_->handle, &capture_), "capture.end");
  if (failure != nullptr) {
    capture_ = nullptr;
    // A plugin that gave up before it had ended anything is asked once more: the stream must be free again.
    int32_t still = 0;
    delete translate(device_->errors(),
                     tables.capture->is_capturing(device_->handle(), stream_->handle, &still),
                     "capture.is_capturing");
    da_capture *late = nullptr;
    if (still != 0) {
      delete translate(device_->errors(), tables.capture->end(device_->handle(), stream_->handle, &late),
                       "capture.end");
    }
    if (late != nullptr)
      device_->keep(translate(device_->errors(), tables.capture->destroy(late), "capture.destroy"));
  }
  stream_->capturing = false;
  if (failure == nullptr && capture_ == nullptr) {
    failure = fail(kMalformed, "capture.end", "the plugin reported success and gave no capture");
  }
  return failure;
}

void Graph::settle() {
  recording_ = stream_->note_capture();
  for (Use &use : uses_) {
    if (!use.written || use.storage->writer != stream_) continue;
    use.storage->writer = use.writer;
    use.storage->written = use.work;
  }
}

Failure *Graph::replay() {
  return translate(device_->errors(), device_->tables().capture->replay(capture_, stream_->handle),
                   "capture.replay");
}

void Graph::note_replay(uint64_t work) {
  stream_->note_replay(recording_, work);
  for (Use &use : uses_) {
    if (!use.written) continue;
    ++use.storage->version;
    use.storage->writer = stream_;
    use.storage->written = work;
  }
}

void Graph::retire() {
  uses_.clear();
  positions_.clear();
  device_->deferred.add({stream_}, [this] {
    if (device_->usable()) {
      if (capture_ != nullptr) {
        device_->keep(
            translate(device_->errors(), device_->tables().capture->destroy(capture_), "capture.destroy"));
      }
      stream_->reserved = false;
      device_->keep(device_->allocator.release_stream(stream_));
      stream_->idle = true;
    }
    delete this;
  });
}

}  // namespace device_api
