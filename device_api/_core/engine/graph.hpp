// A graph: the work of a stream, recorded once and replayed as one launch.
//
// It is recorded on a stream of its own and replayed there, so that memory made meanwhile is the graph's for
// as long as it lives, and the order of work between streams holds for replays as for any other work. What it
// uses of the outside is held. Host lock, except where noted.
#ifndef DEVICE_API_CORE_GRAPH_HPP
#define DEVICE_API_CORE_GRAPH_HPP

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "device.hpp"

namespace device_api {

class Graph {
 public:
  // Memory that was there before the capture.
  struct Use {
    StorageRef storage;
    bool written;
    Stream *writer;  // before the first captured write
    uint64_t work;
  };

  // `stream`: acquired for this graph, and without work.
  Graph(Device *device, Stream *stream);
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  Stream *stream() const { return stream_; }

  // Starts to record. Without the host lock.
  Failure *begin();
  // Before recorded work uses a storage.
  void note(Storage *storage, bool write);
  // Ends the recording, however it went. Without the host lock.
  Failure *end();
  // After the end: what was recorded counts as not done.
  void settle();

  const std::vector<Use> &uses() const { return uses_; }
  // Queues one replay; the caller has ordered it behind what its memory waits for. Without the host lock.
  Failure *replay();
  // After it was queued as that work of the stream.
  void note_replay(uint64_t work);

  // Gives everything up once all replays are done, and itself with it.
  void retire();

 private:
  ~Graph() = default;

  Device *device_;
  Stream *stream_;
  da_capture *capture_ = nullptr;
  uint64_t before_;         // the last number of the stream that is no work of this graph
  uint64_t recording_ = 0;  // what the stream calls the recorded work
  std::vector<Use> uses_;
  std::unordered_map<const Storage *, size_t> positions_;
};

}  // namespace device_api

#endif
