#include "deferred.hpp"

#include <cstddef>
#include <utility>

#include "device.hpp"

namespace device_api {

namespace {
constexpr int kPatience = 8;  // entries that may be found not due before a walk ends
}

Failure *EventPool::take(da_event **out_event) {
  {
    std::lock_guard<std::mutex> guard(mutex_);
    if (!events_.empty()) {
      *out_event = events_.back();
      events_.pop_back();
      return nullptr;
    }
  }
  const Tables &tables = device_->tables();
  return translate(device_->errors(),
                   tables.stream->event_create(device_->handle(), DA_EVENT_FLAG_NONE, out_event),
                   "stream.event_create");
}

void EventPool::give_back(da_event *event) {
  std::lock_guard<std::mutex> guard(mutex_);
  events_.push_back(event);
}

void EventPool::destroy() {
  std::vector<da_event *> events;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    events.swap(events_);
  }
  for (da_event *event : events) {
    device_->keep(translate(device_->errors(),
                            device_->tables().stream->event_destroy(device_->handle(), event),
                            "stream.event_destroy"));
  }
}

void Deferred::add(std::vector<Stream *> streams, std::function<void()> action) {
  std::lock_guard<std::mutex> guard(mutex_);
  entries_.push_back(Entry{std::move(streams), {}, std::move(action)});
  count_.fetch_add(1);
}

// Sets the marks that are missing; false when the plugin gave none, and the next walk tries again.
bool Deferred::mark(Entry *entry) {
  while (entry->events.size() < entry->streams.size()) {
    Stream *stream = entry->streams[entry->events.size()];
    if (stream->ended) {
      entry->streams.erase(entry->streams.begin() + static_cast<std::ptrdiff_t>(entry->events.size()));
      continue;
    }
    if (stream->capturing) return false;  // the mark would be recorded instead of set
    Device *device = stream->device;
    da_event *event = nullptr;
    Failure *failure = device->events.take(&event);
    if (failure == nullptr) {
      failure = translate(device->errors(),
                          device->tables().stream->event_record(device->handle(), event, stream->handle),
                          "stream.event_record");
      if (failure != nullptr) device->events.give_back(event);
    }
    if (failure != nullptr) {
      delete failure;
      misses_.fetch_add(1);
      return false;
    }
    entry->events.push_back(event);
  }
  return true;
}

bool Deferred::due(Entry *entry) {
  while (!entry->events.empty()) {
    Device *device = entry->streams.back()->device;
    int32_t done = 0;
    Failure *failure = translate(
        device->errors(), device->tables().stream->event_query(device->handle(), entry->events.back(), &done),
        "stream.event_query");
    // On a lost device nothing runs any more.
    const bool lost = failure != nullptr && failure->code == DA_STATUS_DEVICE_LOST;
    if (failure != nullptr && !lost) misses_.fetch_add(1);
    delete failure;
    if (done == 0 && !lost) return false;
    device->events.give_back(entry->events.back());
    entry->events.pop_back();
    entry->streams.pop_back();
  }
  return true;
}

void Deferred::reap(bool thorough) {
  if (empty()) return;
  std::list<Entry> work;
  {
    std::lock_guard<std::mutex> guard(mutex_);
    work.swap(entries_);
  }
  std::list<Entry> left;
  int patience = kPatience;
  while (!work.empty()) {
    Entry &entry = work.front();
    const bool marked = mark(&entry);
    if (marked && (thorough || patience > 0) && due(&entry)) {
      entry.action();
      count_.fetch_sub(1);
      work.pop_front();
      continue;
    }
    --patience;
    left.splice(left.end(), work, work.begin());
  }
  std::lock_guard<std::mutex> guard(mutex_);
  entries_.splice(entries_.begin(), left);
}

}  // namespace device_api
