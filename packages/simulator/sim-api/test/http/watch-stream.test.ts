import { expect, it } from 'vitest'
import { createWatchStream } from '../../src/http/wire/watch-stream.ts'

it('a stream ends at a frame that cannot be serialized, without an error for its sender', async () => {
  const stream = createWatchStream(() => {
    throw new RangeError('too deep')
  })
  stream.sink.frame({ type: 'BOOKMARK', object: { apiVersion: 'v1', kind: 'Pod', metadata: { resourceVersion: '1' } } })
  const read = async (): Promise<void> => {
    for await (const chunk of stream.chunks) expect(chunk).toBe('')
  }
  await expect(read()).rejects.toThrow('too deep')
})
