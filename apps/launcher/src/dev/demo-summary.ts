import { loadTextDrawing } from '@tranche/cli'
import type { DemoResult } from './run-demo.ts'

/**
 * Formats the result of the demo.
 *
 * @param columns width of the terminal, between whose words the text is wrapped; undefined: one line
 */
export async function demoSummary(result: DemoResult, columns: number | undefined): Promise<string> {
  const { rollout, phase, nodes, updated, batches, maxUnavailable, maxUnavailableSeen, durationSeconds } = result
  const down = `at most ${maxUnavailableSeen} nodes were unavailable at once (${maxUnavailable} allowed)`
  const text = `${rollout} is ${phase}: ${updated} of ${nodes} nodes updated in ${batches} batches and ${durationSeconds} s, ${down}`
  if (columns === undefined) return text
  const { wrapText } = await loadTextDrawing()
  return wrapText(text, columns).join('\n')
}
