import type { Clock } from '@tranche/clock'
import type { KubeObject } from '@tranche/kube-types'
import { resources, type SimClient } from '@tranche/sim-api'

/** Writes Kubernetes events about objects. Never fails and never waits: an event lost is an event lost. */
export interface EventRecorder {
  record(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void
}

const BURST = 25
const REFILL_MS = 5 * 60_000

/**
 * A recorder that keeps each object to 25 events at once and one more every five minutes, as Kubernetes' own does.
 *
 * @param component `source.component` of the events
 */
export function createEventRecorder(client: SimClient, clock: Clock, component: string): EventRecorder {
  const budgets = new Map<string, { tokens: number; atMs: number }>()
  let written = 0

  function allow(uid: string): boolean {
    const nowMs = clock.monotonicMs()
    const budget = budgets.get(uid) ?? { tokens: BURST, atMs: nowMs }
    budget.tokens = Math.min(BURST, budget.tokens + (nowMs - budget.atMs) / REFILL_MS)
    budget.atMs = nowMs
    budgets.set(uid, budget)
    if (budget.tokens < 1) return false
    budget.tokens--
    return true
  }

  return {
    record(about, type, reason, message) {
      if (!allow(about.metadata.uid)) return
      const suffix = (++written).toString(16).padStart(8, '0')
      const atText = wholeSecond(clock.nowMs())
      const { name, namespace = 'default', uid, resourceVersion } = about.metadata
      const event = {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: `${name}.${component}.${suffix}`, namespace },
        involvedObject: { apiVersion: about.apiVersion, kind: about.kind, name, namespace, uid, resourceVersion },
        type,
        reason,
        message,
        source: { component },
        reportingComponent: component,
        reportingInstance: '',
        count: 1,
        firstTimestamp: atText,
        lastTimestamp: atText,
      }
      client.create(resources.events, event).catch(() => {})
    },
  }
}

/** @returns RFC 3339 with the fraction cut off, as the API keeps times */
export function wholeSecond(epochMs: number): string {
  return new Date(Math.floor(epochMs / 1000) * 1000).toISOString().replace('.000Z', 'Z')
}
