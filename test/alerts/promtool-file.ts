import { stringify } from 'yaml'
import { exposed } from '../scenarios/exposed.ts'
import type { Look } from './watching.ts'

/** Namespace of the processes, in their series. */
const NAMESPACE = 'tranche-system'

/** Scrapes of a story, and the alert that it must fire. */
export interface Expectation {
  readonly looks: readonly Look[]
  /** Alert that fires before the end; null if none may fire at any time. */
  readonly alert: string | null
}

/**
 * Builds a file for `promtool test rules`, with the series as Prometheus would store them and the expected alert.
 *
 * @param rulesFile path of the rules, in the format of a PrometheusRule
 */
export function promtoolFile(rulesFile: string, { looks, alert }: Expectation): string {
  const last = looks.at(-1)?.atMinute ?? 0
  const test = {
    interval: '1m',
    input_series: [...seriesOf(looks, last)].map(([series, values]) => ({ series, values: values.join(' ') })),
    promql_expr_test: [
      alert === null
        ? {
            expr: `count(max_over_time(ALERTS{alertstate="firing"}[${last + 1}m])) or vector(0)`,
            eval_time: `${last}m`,
            exp_samples: [{ labels: '{}', value: 0 }],
          }
        : {
            expr: `count(count(max_over_time(ALERTS{alertstate="firing", alertname="${alert}"}[${last + 1}m])))`,
            eval_time: `${last}m`,
            exp_samples: [{ labels: '{}', value: 1 }],
          },
    ],
  }
  return stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests: [test] }, { lineWidth: 0 })
}

/** Values for each minute by series with its labels: `_` before the first value, `stale` where it is no longer exported. */
function seriesOf(looks: readonly Look[], last: number): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>()
  const put = (name: string, labels: Readonly<Record<string, string>>, atMinute: number, value: number): void => {
    const text = `${name}{${Object.entries(labels)
      .map(([label, word]) => `${label}=${JSON.stringify(word)}`)
      .join(', ')}}`
    const values = found.get(text) ?? Array.from({ length: last + 1 }, (_, minute) => (minute < atMinute ? '_' : 'stale'))
    values[atMinute] = String(value)
    found.set(text, values)
  }
  looks.forEach(({ atMinute, targets }, index) => {
    // Values stay the same between two scrapes that are more than a minute apart.
    const until = Math.min(looks[index + 1]?.atMinute ?? last + 1, last + 1)
    for (const { job, instance, text } of targets)
      for (let minute = atMinute; minute < until; minute++) {
        const target = { job, instance, namespace: NAMESPACE }
        put('up', target, minute, text === null ? 0 : 1)
        for (const { name, labels, value } of exposed(text ?? '').all) put(name, { ...labels, ...target }, minute, value)
      }
  })
  return found
}
