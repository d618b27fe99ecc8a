import { type Clock, sleep } from '@tranche/clock'
import type { EgressClient, EgressRequest, EgressResult } from '@tranche/egress'

/** A metric system that answers in virtual time, and the requests that it received. */
export interface Metrics {
  /** Current value; null if it does not answer. */
  value: number | null
  readonly asked: EgressRequest[]
  /** For `StageOptions.egress`. */
  egress(clock: Clock): EgressClient
}

/** Time that an answer takes, in milliseconds. */
const ANSWER_MS = 50

/** @returns a Prometheus server, as far as analyses use it */
export function metricsOf(value: number | null): Metrics {
  const metrics: Metrics = {
    value,
    asked: [],
    egress: (clock) => ({
      async send(request, signal): Promise<EgressResult> {
        metrics.asked.push(request)
        const { value: measured } = metrics
        if (measured === null) {
          await sleep(clock, request.timeoutMs, signal)
          return { kind: 'failed', reason: 'Timeout', message: `prometheus.example did not answer within ${request.timeoutMs} ms` }
        }
        await sleep(clock, ANSWER_MS, signal)
        const result = [{ metric: {}, value: [0, String(measured)] }]
        return {
          kind: 'answered',
          status: 200,
          headers: {},
          body: JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }),
        }
      },
      allows: () => true,
      close: async () => undefined,
    }),
  }
  return metrics
}
