import { type HostRule, parseHostRule } from '@tranche/egress'
import { invalid } from './option-values.ts'

/**
 * @param texts values of `--allow-host`
 * @throws {AppError} OPTION_INVALID
 */
export function readAllowHosts(texts: readonly string[]): readonly HostRule[] {
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
