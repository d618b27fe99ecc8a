import type { HostRule } from '@tranche/egress'
import { invalid } from './option-values.ts'

/**
 * Parses hosts. Loads the library for requests, which takes longer than most commands take to run, only if there are any.
 *
 * @param texts values of `--allow-host`
 * @throws {AppError} OPTION_INVALID
 */
export async function readAllowHosts(texts: readonly string[]): Promise<readonly HostRule[]> {
  if (texts.length === 0) return []
  const { parseHostRule } = await import('@tranche/egress')
  return texts.map((text) => {
    const rule = parseHostRule(text)
    if (typeof rule !== 'string') return rule
    throw invalid(
      '--allow-host',
      text,
      'give a name such as prometheus.monitoring, *.example.com or an address, with :PORT to allow only that port',
    )
  })
}
