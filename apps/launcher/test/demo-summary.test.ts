import { expect, it } from 'vitest'
import { demoSummary } from '../src/dev/demo-summary.ts'
import type { DemoResult } from '../src/dev/run-demo.ts'

const result = {
  rollout: 'demo/node-agent',
  phase: 'Healthy',
  nodes: 30,
  updated: 30,
  batches: 3,
  maxUnavailable: 3,
  maxUnavailableSeen: 3,
  durationSeconds: 61,
} as DemoResult

it('the result of the demo breaks only between words on a terminal, and nowhere else', async () => {
  const line = await demoSummary(result, undefined)
  const rows = (await demoSummary(result, 80)).split('\n')
  expect(line).not.toContain('\n')
  expect(rows.length).toBeGreaterThan(1)
  expect(rows.every((row) => row.length <= 80)).toBe(true)
  expect(rows.join(' ')).toBe(line)
})
