"""BLAKE3 in plain Python, for the test of the program on the page trace-format.md. It hashes short inputs slowly."""

IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8


def rotate(word, bits):
    return ((word >> bits) | (word << (32 - bits))) & 0xFFFFFFFF


def compress(chain, words, counter, length, flags):
    state = [*chain, *IV[:4], counter & 0xFFFFFFFF, counter >> 32, length, flags]
    for turn in range(7):
        for step, (a, b, c, d) in enumerate(COLUMNS + DIAGONALS):
            for word, first, second in ((words[2 * step], 16, 12), (words[2 * step + 1], 8, 7)):
                state[a] = (state[a] + state[b] + word) & 0xFFFFFFFF
                state[d] = rotate(state[d] ^ state[a], first)
                state[c] = (state[c] + state[d]) & 0xFFFFFFFF
                state[b] = rotate(state[b] ^ state[c], second)
        words = [words[at] for at in ORDER]
    return [state[i] ^ state[i + 8] for i in range(8)]


def words_of(block):
    block = block.ljust(64, b"\0")
    return [int.from_bytes(block[i : i + 4], "little") for i in range(0, 64, 4)]


def chunk(data, counter, root):
    chain, blocks = list(IV), [data[i : i + 64] for i in range(0, len(data), 64)] or [b""]
    for i, block in enumerate(blocks):
        flags = (CHUNK_START if i == 0 else 0) | ((CHUNK_END | root) if i == len(blocks) - 1 else 0)
        chain = compress(chain, words_of(block), counter, len(block), flags)
    return chain


def tree(data, counter, root):
    if len(data) <= 1024:
        return chunk(data, counter, root)
    # The left part has the largest power of two of chunks that leaves a right part.
    left = 1024
    while 2 * left < len(data):
        left *= 2
    parts = tree(data[:left], counter, 0) + tree(data[left:], counter + left // 1024, 0)
    return compress(list(IV), parts, 0, 64, PARENT | root)


class blake3:
    def __init__(self, data):
        self.data = data

    def hexdigest(self):
        return b"".join(word.to_bytes(4, "little") for word in tree(self.data, 0, ROOT)).hex()
