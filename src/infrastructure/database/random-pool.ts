const POOL_BYTES = 4096;

/**
 * Returns a function that returns 16 random bytes at a time. Use them before the pool (4096 bytes) is refilled.
 * Requesting many bytes from the system at once is far cheaper than requesting 16 each time.
 * @param fill overwrites the whole buffer with random bytes
 */
export function randomPool(fill: (pool: Buffer) => void): () => Uint8Array {
  const pool = Buffer.allocUnsafe(POOL_BYTES);
  let left = 0;
  return () => {
    if (left === 0) {
      fill(pool);
      left = POOL_BYTES;
    }
    left -= 16;
    return pool.subarray(left, left + 16);
  };
}
