const POOL_BYTES = 4096;

/**
 * Returns a function that gives out 16 random bytes at a time. They must be used before the pool (4096 bytes) is filled
 * again. To ask the system for many bytes at once costs a fraction of asking for each 16.
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
