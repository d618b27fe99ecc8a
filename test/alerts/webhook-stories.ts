import { systemClock } from '@tranche/clock'
import { silentLogger } from '@tranche/telemetry'
import { createMetrics } from '@tranche/metrics'
import { createSimulator } from '@tranche/sim'
import { startTestWebhook } from '../scenarios/test-webhook.ts'
import type { Look } from './watching.ts'

const DAY_MS = 24 * 3_600_000

/** Faults of the webhook. */
export const webhookStories = [
  {
    alert: 'TrancheWebhookCertificateEnds',
    title: 'the certificate of the webhook expires in three days and was not renewed',
    play: async (): Promise<readonly Look[]> => {
      const metrics = await createMetrics({ clock: systemClock, log: silentLogger, version: '0.1.0' })
      const exchange = createSimulator({ clock: systemClock, nodes: 0 }).exchangeFor('controller-1')
      const webhook = await startTestWebhook(exchange, 3 * DAY_MS, metrics)
      try {
        const text = await metrics.text()
        const targets = [{ job: 'tranche-controller-metrics', instance: 'controller-1', text }]
        return Array.from({ length: 15 }, (_, atMinute) => ({ atMinute, targets }))
      } finally {
        await webhook.end()
      }
    },
  },
] as const
