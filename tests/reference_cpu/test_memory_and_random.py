"""Memory: sizes, kinds, copies. Random: the words of Philox 4x32-10."""

from __future__ import annotations

import numpy as np
import pytest
from cpu_driver import INVALID_ARGUMENT, OUT_OF_MEMORY, Plugin, PluginError, ffi


def allocate(plugin: Plugin, size: int, kind: int = 1) -> int:
    out = ffi.new("void **")
    plugin.check(plugin.memory.allocate(plugin.device, kind, size, out))
    return int(ffi.cast("uintptr_t", out[0]))


def free(plugin: Plugin, handle: int, kind: int = 1) -> None:
    plugin.check(plugin.memory.free(plugin.device, kind, ffi.cast("void *", handle)))


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 1 << 20, (4 << 20) - 1, 4 << 20, (9 << 20) + 5])
def test_memory_of_every_kind_and_size_is_aligned_and_can_be_written(
    plugin: Plugin, kind: int, size: int
) -> None:
    handle = allocate(plugin, size, kind)
    assert handle != 0
    assert handle % 64 == 0
    plugin.check(plugin.memory.set(plugin.device, ffi.NULL, ffi.cast("void *", handle), 0, 7, size))
    assert bytes(ffi.buffer(ffi.cast("char *", handle), size)) == b"\7" * size
    free(plugin, handle, kind)


def test_large_memory_begins_with_a_large_page(plugin: Plugin) -> None:
    handles = [allocate(plugin, (4 << 20) + 64 * n) for n in range(3)]
    assert all(handle % (2 << 20) == 0 for handle in handles)
    for handle in handles:
        free(plugin, handle)


def test_freeing_nothing_is_fine_and_an_unknown_kind_is_not(plugin: Plugin) -> None:
    free(plugin, 0)
    with pytest.raises(PluginError, match="kind 9") as caught:
        allocate(plugin, 8, 9)
    assert caught.value.code == INVALID_ARGUMENT


@pytest.mark.parametrize("size", [1 << 45, (1 << 63) + 5, (1 << 64) - 1])
def test_more_memory_than_there_is_is_an_error_that_says_how_much_is_free(plugin: Plugin, size: int) -> None:
    with pytest.raises(PluginError, match=f"no memory for {size} bytes; .* bytes are free") as caught:
        allocate(plugin, size)
    assert caught.value.code == OUT_OF_MEMORY


def copy(plugin: Plugin, kind: int, to: int, to_offset: int, source: int, offset: int, size: int) -> None:
    task = ffi.new(
        "da_copy *",
        {
            "struct_size": ffi.sizeof("da_copy"),
            "kind": kind,
            "destination": ffi.cast("void *", to),
            "destination_offset": to_offset,
            "source": ffi.cast("void *", source),
            "source_offset": offset,
            "bytes": size,
            "peer": plugin.device,
        },
    )
    plugin.check(plugin.memory.copy(plugin.device, ffi.NULL, task))


@pytest.mark.parametrize("size", [0, 1, 1000, (5 << 20) + 3])
def test_copies_in_every_direction_keep_the_bytes_and_their_neighbours(plugin: Plugin, size: int) -> None:
    data = np.random.default_rng(1).integers(0, 256, size + 16, np.uint8)
    back = np.full(size + 16, 7, np.uint8)
    handles = [allocate(plugin, size + 16) for _ in range(3)]
    host = data.__array_interface__["data"][0]
    copy(plugin, 1, handles[0], 5, host, 3, size)
    copy(plugin, 3, handles[1], 1, handles[0], 5, size)
    copy(plugin, 4, handles[2], 2, handles[1], 1, size)
    copy(plugin, 2, back.__array_interface__["data"][0], 4, handles[2], 2, size)
    assert (back[4 : 4 + size] == data[3 : 3 + size]).all()
    assert (back[:4] == 7).all()
    assert (back[4 + size :] == 7).all()
    for handle in handles:
        free(plugin, handle)


def test_an_unknown_copy_kind_is_an_error_also_for_no_bytes(plugin: Plugin) -> None:
    with pytest.raises(PluginError, match="copy kind 77"):
        copy(plugin, 77, 0, 0, 0, 0, 0)


def test_set_writes_its_range_only(plugin: Plugin) -> None:
    data = np.zeros(20, np.uint8)
    address = ffi.cast("void *", data.__array_interface__["data"][0])
    plugin.check(plugin.memory.set(plugin.device, ffi.NULL, address, 5, 0xAB, 10))
    plugin.check(plugin.memory.set(plugin.device, ffi.NULL, address, 0, 0xFF, 0))
    assert data.tolist() == [0] * 5 + [0xAB] * 10 + [0] * 5


def test_info_and_wrap(plugin: Plugin) -> None:
    free_bytes, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    plugin.check(plugin.memory.info(plugin.device, free_bytes, total))
    assert 0 < free_bytes[0] <= total[0]
    out = ffi.new("void **")
    plugin.check(plugin.memory.wrap(plugin.device, ffi.cast("void *", 4096), 10, out))
    assert out[0] == ffi.cast("void *", 4096)
    plugin.check(plugin.memory.unwrap(plugin.device, out[0]))


def philox(counter: tuple[int, ...], key: tuple[int, int]) -> list[int]:
    c, k, mask = list(counter), list(key), 0xFFFFFFFF
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(second >> 32) ^ c[1] ^ k[0], second & mask, (first >> 32) ^ c[3] ^ k[1], first & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def test_the_oracle_gives_the_published_known_answers() -> None:
    assert philox((0, 0, 0, 0), (0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = 0xFFFFFFFF
    assert philox((ones,) * 4, (ones,) * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344)
    assert philox(pi, (0xA4093822, 0x299F31D0)) == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def words(plugin: Plugin, seed: int, offset: int, count: int) -> list[int]:
    out = np.full(count + 4, 0xA5A5A5A5, np.uint32)
    address = ffi.cast("void *", out.__array_interface__["data"][0])
    plugin.check(plugin.random.bits(plugin.device, ffi.NULL, seed, offset, address, 8, count))
    assert (out[:2] == 0xA5A5A5A5).all()
    assert (out[2 + count :] == 0xA5A5A5A5).all()
    return out[2 : 2 + count].tolist()


@pytest.mark.parametrize("seed", [0, 1, 0x0123456789ABCDEF, (1 << 64) - 1])
@pytest.mark.parametrize("offset", [0, 5, (1 << 32) - 2, (1 << 64) - 1])
@pytest.mark.parametrize("count", [0, 1, 4, 17])
def test_words_are_those_of_philox_for_every_seed_offset_and_count(
    plugin: Plugin, seed: int, offset: int, count: int
) -> None:
    expected: list[int] = []
    for block in range((count + 3) // 4):
        counter = (offset + block) % (1 << 64)
        expected += philox((counter % (1 << 32), counter >> 32, 0, 0), (seed % (1 << 32), seed >> 32))
    assert words(plugin, seed, offset, count) == expected[:count]


def test_a_long_stream_is_its_pieces_one_after_the_other(plugin: Plugin) -> None:
    whole = words(plugin, 42, 7, 300_000)
    assert whole[200_000:200_400] == words(plugin, 42, 7 + 50_000, 400)
    assert abs(np.mean(whole) / 2**32 - 0.5) < 0.005
