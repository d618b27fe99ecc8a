import type { BenchSet } from '../bench-set.ts'
import { secondsOf } from './simulator.ts'

/** The whole fast test suite. */
export const suiteSet: BenchSet = {
  about: 'The fast tests.',
  minutes: 4,
  isDefault: false,
  isReported: false,
  isExact: false,
  measure: async () => [{ name: 'pnpm test', unit: 's', values: [await secondsOf('pnpm', ['--silent', 'test'])], limit: { atMost: 240 } }],
}
