import { FakeClock } from '@tranche/clock'
import { createEventRecorder, type CoreEvent, type EventPort, type EventRecorderOptions } from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'
import { recordingLogger, type LogLine } from './recording-logger.ts'

const AGENT = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', namespace: 'kube-system', uid: 'u-1' }

describe('createEventRecorder', () => {
  it('creates a core/v1 Event in the namespace of the object', async () => {
    const { recorder, sent } = newBench()
    recorder.record(AGENT, 'Normal', 'BatchReady', 'Batch 1 of 3 is ready.')
    await recorder.flush()
    expect(sent).toEqual([
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: expect.stringMatching(/^agent\.[0-9a-f]{16}$/) as string, namespace: 'kube-system' },
        involvedObject: AGENT,
        type: 'Normal',
        reason: 'BatchReady',
        message: 'Batch 1 of 3 is ready.',
        source: { component: 'tranche-controller' },
        reportingComponent: 'tranche-controller',
        reportingInstance: 'tranche-controller',
        count: 1,
        firstTimestamp: '2023-11-14T22:13:20Z',
        lastTimestamp: '2023-11-14T22:13:20Z',
      },
    ])
  })

  it('puts events of cluster-scoped objects into the namespace default', async () => {
    const { recorder, sent } = newBench()
    recorder.record({ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u-2' }, 'Warning', 'NodeSlow', 'n1 is slow.')
    await recorder.flush()
    expect(sent[0]?.metadata.namespace).toBe('default')
  })

  it('gives every event a unique name, even within one millisecond and across replicas', async () => {
    const first = newBench({ instance: 'pod-1' })
    const second = newBench({ instance: 'pod-2' })
    for (const { recorder } of [first, second]) {
      for (let events = 0; events < 50; events++) recorder.record({ ...AGENT, uid: `u-${events}` }, 'Normal', 'Same', 'Same.')
      await recorder.flush()
    }
    expect(new Set([...first.sent, ...second.sent].map((event) => event.metadata.name)).size).toBe(100)
  })

  it('names the reporting replica', async () => {
    const { recorder, sent } = newBench({ instance: 'pod-1' })
    recorder.record(AGENT, 'Normal', 'Said', 'x')
    await recorder.flush()
    expect(sent[0]).toMatchObject({ reportingComponent: 'tranche-controller', reportingInstance: 'pod-1' })
  })

  it.each([
    ['the full name of the object', 'node-agent.v2', /^node-agent\.v2\.[0-9a-f]{16}$/],
    ['the truncated name of the object', 'a'.repeat(253), /^a{236}\.[0-9a-f]{16}$/],
  ])('gives an event a name that begins with %s', async (_what, name, want) => {
    const { recorder, sent } = newBench()
    recorder.record({ ...AGENT, name }, 'Normal', 'Said', 'x')
    await recorder.flush()
    expect(sent[0]!.metadata.name).toMatch(want)
  })

  it('keeps the name of an event valid for the API server', async () => {
    const { recorder, sent } = newBench()
    recorder.record({ ...AGENT, name: `${'a'.repeat(235)}.${'b'.repeat(17)}` }, 'Normal', 'Long', 'Long.')
    await recorder.flush()
    expect(sent[0]!.metadata.name).toMatch(/^a{235}\.[0-9a-f]{16}$/)
  })

  it.each([
    { title: 'keeps a message of 1,024 bytes', message: 'x'.repeat(1024), want: 'x'.repeat(1024) },
    { title: 'truncates a longer message', message: 'x'.repeat(1025), want: `${'x'.repeat(1021)}…` },
    { title: 'truncates between characters', message: 'é'.repeat(600), want: `${'é'.repeat(510)}…` },
    { title: 'does not split an emoji', message: '🚀'.repeat(300), want: `${'🚀'.repeat(255)}…` },
  ])('$title', async ({ message, want }) => {
    const { recorder, sent } = newBench()
    recorder.record(AGENT, 'Normal', 'Said', message)
    await recorder.flush()
    expect(sent[0]?.message).toBe(want)
  })

  it('sends events one at a time, in order', async () => {
    const { recorder, sent } = newBench()
    for (const reason of ['One', 'Two', 'Three']) recorder.record(AGENT, 'Normal', reason, reason)
    await recorder.flush()
    recorder.record(AGENT, 'Normal', 'Four', 'Four')
    await recorder.flush()
    expect(sent.map((event) => event.reason)).toEqual(['One', 'Two', 'Three', 'Four'])
  })

  it('sends an event recorded at the moment of the last response', async () => {
    const { recorder, sent } = newBench()
    recorder.record(AGENT, 'Normal', 'One', 'One')
    void recorder.flush().then(() => recorder.record(AGENT, 'Normal', 'Two', 'Two'))
    for (let turns = 0; turns < 10; turns++) await Promise.resolve()
    await recorder.flush()
    expect(sent.map((event) => event.reason)).toEqual(['One', 'Two'])
  })

  it('continues after a failure, and logs the first of several in a row', async () => {
    let failing = true
    const port = (event: CoreEvent): Promise<void> => (failing ? Promise.reject(new Error(event.reason)) : Promise.resolve())
    const { recorder, lines } = newBench({}, { create: port, repeat: () => Promise.resolve(true) })
    for (const reason of ['One', 'Two']) recorder.record(AGENT, 'Normal', reason, reason)
    await recorder.flush()
    expect(lines.map((line) => [line.level, line.message])).toEqual([['warn', 'lost events']])
    failing = false
    recorder.record(AGENT, 'Normal', 'Three', 'Three')
    await recorder.flush()
    failing = true
    recorder.record(AGENT, 'Normal', 'Four', 'Four')
    await recorder.flush()
    expect(lines).toHaveLength(2)
  })

  it('never throws, even if the port throws synchronously', async () => {
    const create = (): never => {
      throw new Error('a programming error')
    }
    const { recorder, lines } = newBench({}, { create, repeat: () => Promise.resolve(true) })
    recorder.record(AGENT, 'Normal', 'One', 'One')
    await recorder.flush()
    expect(lines).toHaveLength(1)
  })

  it('drops events when the queue is full', async () => {
    let answer = (): void => {}
    const sent: string[] = []
    const create = (event: CoreEvent): Promise<void> => new Promise((resolve) => (sent.push(event.reason), (answer = resolve)))
    const { recorder, lines } = newBench({ capacity: 2 }, { create, repeat: () => Promise.resolve(true) })
    for (const reason of ['One', 'Two', 'Three', 'Four']) recorder.record(AGENT, 'Normal', reason, reason)
    answer()
    await Promise.resolve()
    await Promise.resolve()
    answer()
    await recorder.flush()
    expect(sent).toEqual(['One', 'Two'])
    expect(lines).toHaveLength(1)
  })

  it('drops events of the namespace with the most, and sends those of others before the rest of them', async () => {
    const answers: (() => void)[] = []
    const sent: string[] = []
    const create = (event: CoreEvent): Promise<void> => new Promise((resolve) => (sent.push(event.reason), void answers.push(resolve)))
    const { recorder, lines } = newBench({ capacity: 4 }, { create, repeat: () => Promise.resolve(true) })
    for (const reason of ['One', 'Two', 'Three', 'Four', 'Five']) recorder.record(AGENT, 'Normal', reason, reason)
    recorder.record({ ...AGENT, namespace: 'modest', uid: 'other' }, 'Normal', 'Modest', 'Modest')
    while (answers.length > 0) {
      answers.shift()?.()
      for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    }
    await recorder.flush()
    expect(sent).toEqual(['One', 'Two', 'Modest', 'Three'])
    expect(lines).toHaveLength(1)
  })

  it('queues 1,000 events by default, and drops the next', () => {
    const { recorder, lines } = newBench({}, { create: () => new Promise(() => {}), repeat: () => Promise.resolve(true) })
    for (let events = 0; events < 1_000; events++) recorder.record(AGENT, 'Normal', 'Said', 'x')
    expect(lines).toEqual([])
    recorder.record(AGENT, 'Normal', 'Said', 'x')
    expect(lines).toHaveLength(1)
  })

  it('increments the count of a repeated event', async () => {
    const clock = new FakeClock()
    const { recorder, sent, repeated } = newBench({ clock })
    for (let times = 0; times < 3; times++) {
      recorder.record(AGENT, 'Warning', 'Stalled', 'maxUnavailable is 0')
      await recorder.flush()
      clock.advance(60_000)
    }
    expect(sent).toHaveLength(1)
    expect(
      repeated.map(({ metadata, count, firstTimestamp, lastTimestamp }) => ({ metadata, count, firstTimestamp, lastTimestamp })),
    ).toEqual([
      { metadata: sent[0]!.metadata, count: 2, firstTimestamp: '2023-11-14T22:13:20Z', lastTimestamp: '2023-11-14T22:14:20Z' },
      { metadata: sent[0]!.metadata, count: 3, firstTimestamp: '2023-11-14T22:13:20Z', lastTimestamp: '2023-11-14T22:15:20Z' },
    ])
  })

  it('creates a new event if the one to increment was deleted meanwhile', async () => {
    const { recorder, sent, gone } = newBench()
    for (const isGone of [false, true, false]) {
      gone.value = isGone
      recorder.record(AGENT, 'Warning', 'Stalled', 'maxUnavailable is 0')
      await recorder.flush()
    }
    expect(sent.map(({ count }) => count)).toEqual([1, 1])
    expect(new Set(sent.map(({ metadata }) => metadata.name)).size).toBe(2)
  })

  it('combines events from the eleventh message about one reason on', async () => {
    const { recorder, sent, repeated } = newBench()
    for (let node = 1; node <= 13; node++) recorder.record(AGENT, 'Warning', 'Skipped', `node-${node} is not ready`)
    await recorder.flush()
    expect(sent.map(({ message }) => message).slice(9)).toEqual([
      'node-10 is not ready',
      '(combined from similar events): node-11 is not ready',
    ])
    expect(repeated.map(({ message, count }) => ({ message, count }))).toEqual([
      { message: '(combined from similar events): node-12 is not ready', count: 2 },
      { message: '(combined from similar events): node-13 is not ready', count: 3 },
    ])
  })

  it('increments a distinct message after others of its reason are combined', async () => {
    const { recorder, repeated } = newBench()
    for (const node of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 3]) recorder.record(AGENT, 'Warning', 'Skipped', `node-${node} is not ready`)
    await recorder.flush()
    expect(repeated.map(({ message, count }) => ({ message, count }))).toEqual([{ message: 'node-3 is not ready', count: 2 }])
  })

  it.each([
    [600_000, '(combined from similar events): node-11 is not ready'],
    [600_001, 'node-11 is not ready'],
  ])('combines similar events until none came for ten minutes (after %i ms: %s)', async (quietMs, want) => {
    const clock = new FakeClock()
    clock.advance(1_000_000)
    const { recorder, sent } = newBench({ clock })
    for (let node = 1; node <= 10; node++) recorder.record(AGENT, 'Warning', 'Skipped', `node-${node} is not ready`)
    await recorder.flush()
    clock.advance(quietMs)
    recorder.record(AGENT, 'Warning', 'Skipped', 'node-11 is not ready')
    await recorder.flush()
    expect(sent.at(-1)?.message).toBe(want)
  })

  it('retries creating an event that was deleted meanwhile', async () => {
    let isFailing = false
    const sent: CoreEvent[] = []
    const create = (event: CoreEvent): Promise<void> =>
      isFailing ? Promise.reject(new Error('no')) : Promise.resolve(void sent.push(event))
    const { recorder } = newBench({}, { create, repeat: () => Promise.resolve(false) })
    for (const fails of [false, true, false]) {
      isFailing = fails
      recorder.record(AGENT, 'Warning', 'Stalled', 'maxUnavailable is 0')
      await recorder.flush()
    }
    expect(sent.map(({ count }) => count)).toEqual([1, 1])
  })

  it('limits one object to a burst of 25 events and one more every 5 minutes, and no other object', async () => {
    const clock = new FakeClock()
    const { recorder, sent, lines } = newBench({ clock })
    const other = { ...AGENT, uid: 'u-2' }
    for (let index = 0; index < 40; index++) recorder.record(AGENT, 'Normal', `Reason${index}`, 'x')
    recorder.record(other, 'Normal', 'Other', 'x')
    await recorder.flush()
    expect(sent).toHaveLength(26)
    clock.advance(300_000)
    for (const reason of ['One', 'Two']) recorder.record(AGENT, 'Normal', reason, 'x')
    await recorder.flush()
    expect(sent.map(({ reason }) => reason).slice(25)).toEqual(['Other', 'One'])
    expect(lines).toEqual([])
  })
})

function newBench(options: Partial<EventRecorderOptions> = {}, port?: EventPort) {
  const sent: CoreEvent[] = []
  const repeated: CoreEvent[] = []
  const gone = { value: false }
  const lines: LogLine[] = []
  const keeping: EventPort = {
    create: (event) => Promise.resolve(void sent.push(event)),
    repeat: (event) => Promise.resolve(!gone.value && repeated.push(event) > 0),
  }
  const recorder = createEventRecorder({
    port: port ?? keeping,
    component: 'tranche-controller',
    clock: new FakeClock(),
    log: recordingLogger(lines),
    ...options,
  })
  return { recorder, sent, repeated, gone, lines }
}
