import type { IncomingMessage } from 'node:http'

/** Reads the body of a request as UTF-8. @returns undefined where it is too large; @throws what breaks the connection */
export type ReceiveBody = (request: IncomingMessage) => Promise<string | undefined>

/** Two objects of the largest size that an API server takes, and what is around them. In bytes. */
const LARGEST_REVIEW = 8 * 1024 * 1024
/** Maximum of all bodies that have not arrived whole, in bytes: reviews arrive within milliseconds, and few are above 100 KiB. */
const MOST_IN_TRANSFER = 32 * 1024 * 1024

/**
 * Bounds the memory of bodies in transfer: the port asks for no login. Above the maximum, the connection is closed whose body has been
 * arriving for longest.
 */
export function receiveBodies(): ReceiveBody {
  /** Bytes of each body in transfer, oldest first. */
  const inTransfer = new Map<IncomingMessage, number>()
  let total = 0

  function add(request: IncomingMessage, bytes: number): void {
    inTransfer.set(request, (inTransfer.get(request) ?? 0) + bytes)
    total += bytes
    while (total > MOST_IN_TRANSFER) {
      const [oldest] = inTransfer.keys()
      if (oldest === undefined) return
      remove(oldest)
      oldest.destroy(new Error('bodies of reviews take too much memory'))
    }
  }

  function remove(request: IncomingMessage): void {
    total -= inTransfer.get(request) ?? 0
    inTransfer.delete(request)
  }

  return async (request) => {
    const chunks: Buffer[] = []
    let size = 0
    try {
      // Left half-read, it can still be answered.
      for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        if ((size += chunk.length) > LARGEST_REVIEW) return undefined
        chunks.push(chunk)
        add(request, chunk.length)
      }
      return Buffer.concat(chunks).toString('utf8')
    } finally {
      remove(request)
    }
  }
}
