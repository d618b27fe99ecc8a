import { memoryUsage } from 'node:process'
import { expect, test } from 'vitest'
import { shrinkHeap } from '../src/processes/shrink-heap.ts'

const MEBIBYTE = 1024 * 1024

test('unused memory is returned at once', () => {
  let kept: readonly object[] = Array.from({ length: 1_000_000 }, (_none, at) => ({ at, text: `item ${at}` }))
  const { heapTotal } = memoryUsage()
  expect(kept).toHaveLength(1_000_000)

  kept = []
  shrinkHeap()

  expect(heapTotal - memoryUsage().heapTotal).toBeGreaterThan(40 * MEBIBYTE)
})
