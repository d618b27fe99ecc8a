import type { Clock } from '@tranche/clock'
import type { KubeObject } from '@tranche/kube-types'
import { isStatus, resources, type SimClient, timestamp } from '@tranche/sim-api'
import { createEventCorrelator } from './event-correlator.ts'

/** Writes Kubernetes events about objects. Never fails and never waits: a failed write loses the event. */
export interface EventRecorder {
  record(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void
}

/**
 * Recorder with the limits of Kubernetes' own. Repetitions are counted on one event, and many similar ones are combined. Each object gets a
 * burst of 25 and one more every five minutes.
 *
 * @param component `source.component` of the events
 */
export function createEventRecorder(client: SimClient, clock: Clock, component: string): EventRecorder {
  const correlator = createEventCorrelator(() => clock.monotonicMs())
  /** Last write of each event, which orders the next one after it. */
  const writes = new WeakMap<object, Promise<void>>()
  let written = 0

  async function create(about: KubeObject, name: string, event: object): Promise<void> {
    const { namespace = 'default', uid, resourceVersion } = about.metadata
    const involvedObject = { apiVersion: about.apiVersion, kind: about.kind, name: about.metadata.name, namespace, uid, resourceVersion }
    const reporter = { source: { component }, reportingComponent: component, reportingInstance: '' }
    await client.create(resources.events, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name, namespace },
      involvedObject,
      ...reporter,
      ...event,
    })
  }

  return {
    record(about, type, reason, message) {
      const lastTimestamp = timestamp(clock.nowMs())
      const series = correlator.observe(about, type, reason, message)
      if (series === undefined) return
      const { count, text } = series
      // Keyed by uid, because a later object may have the same name.
      series.entry.name ??= `${about.metadata.name}.${component}.${about.metadata.uid.slice(0, 8)}${(++written).toString(16).padStart(8, '0')}`
      series.entry.firstTimestamp ??= lastTimestamp
      const { name, firstTimestamp } = series.entry
      const whole = { type, reason, message: text, count, firstTimestamp, lastTimestamp }
      const write = async (): Promise<void> => {
        if (count === 1) return create(about, name, whole)
        const change = { count, lastTimestamp, message: text }
        await client.patch(resources.events, name, about.metadata.namespace ?? 'default', change).catch((error: unknown) => {
          if (!isStatus(error, 404)) throw error
          return create(about, name, whole)
        })
      }
      const before = writes.get(series.entry) ?? Promise.resolve()
      writes.set(
        series.entry,
        before.then(write).catch(() => {}),
      )
    },
  }
}
