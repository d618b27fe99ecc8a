import { FakeClock, sleep } from '@tranche/clock'
import { createWorkQueue, type WorkQueue } from '@tranche/reconcile'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

/**
 * The whole work queue as one table. It has for each key whether it is wanted, in which order it became so, whether a worker has it, and
 * when it becomes wanted by itself. There are no sets that have to agree with each other.
 */
class Model {
  readonly wantedSince = new Map<string, number>()
  readonly taken = new Set<string>()
  readonly wantedAtMs = new Map<string, number>()
  readonly failures = new Map<string, number>()
  nowMs = 0
  #order = 0
  /** When each namespace had its last key taken, or began to have one ready. */
  readonly #servedAt = new Map<string, number>()
  readonly #atOnce: number

  constructor(atOnce: number) {
    this.#atOnce = atOnce
  }

  add(key: string): void {
    if (this.wantedSince.has(key)) return
    if (!this.taken.has(key) && !this.#ready().some((one) => namespaceOf(one) === namespaceOf(key)))
      this.#servedAt.set(namespaceOf(key), this.#order++)
    this.wantedSince.set(key, this.#order++)
  }

  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) return this.add(key)
    const atMs = this.nowMs + delayMs
    if ((this.wantedAtMs.get(key) ?? Infinity) <= atMs) return
    this.wantedAtMs.delete(key)
    this.wantedAtMs.set(key, atMs)
  }

  addRateLimited(key: string): number {
    const failures = this.failures.get(key) ?? 0
    this.failures.set(key, failures + 1)
    const delayMs = Math.min(80, 5 * 2 ** failures)
    this.addAfter(key, delayMs)
    return delayMs
  }

  forget(key: string): void {
    this.failures.delete(key)
  }

  get(): string | null {
    const turn = (key: string): number => this.#servedAt.get(namespaceOf(key)) ?? 0
    const since = (key: string): number => this.wantedSince.get(key) ?? 0
    const [next] = this.takeable().sort((a, b) => turn(a) - turn(b) || since(a) - since(b))
    if (next === undefined) return null
    this.wantedSince.delete(next)
    this.taken.add(next)
    this.#servedAt.set(namespaceOf(next), this.#order++)
    return next
  }

  /** Ready keys of namespaces that may have another one taken. */
  takeable(): string[] {
    const takenOf = (namespace: string): number => [...this.taken].filter((key) => namespaceOf(key) === namespace).length
    return this.#ready().filter((key) => takenOf(namespaceOf(key)) < this.#atOnce)
  }

  done(key: string): void {
    this.taken.delete(key)
    if (this.wantedSince.delete(key)) this.add(key)
  }

  advance(ms: number): void {
    this.nowMs += ms
    const due = [...this.wantedAtMs].filter(([, atMs]) => atMs <= this.nowMs).sort((a, b) => a[1] - b[1])
    for (const [key] of due) {
      this.wantedAtMs.delete(key)
      this.add(key)
    }
  }

  get ready(): number {
    return this.#ready().length
  }

  #ready(): string[] {
    return [...this.wantedSince.keys()].filter((key) => !this.taken.has(key))
  }
}

describe('the work queue, under any sequence of calls,', () => {
  it('equals a simple model', async () => {
    await fc.assert(fc.asyncProperty(fc.array(callArbitrary, { maxLength: 60 }), fc.constantFrom(1, 2, 9), equalsModel), { numRuns: 300 })
  })
})

type Call =
  | { readonly kind: 'add' | 'addRateLimited' | 'forget' | 'done'; readonly key: string }
  | { readonly kind: 'addAfter'; readonly key: string; readonly ms: number }
  | { readonly kind: 'advance'; readonly ms: number }
  | { readonly kind: 'get' }

const keyArbitrary = fc.constantFrom('x/a', 'x/b', 'x/c', 'y/d', 'y/e', 'f')

function namespaceOf(key: string): string {
  return key.includes('/') ? (key.split('/')[0] ?? '') : ''
}

const callArbitrary: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ kind: fc.constantFrom('add', 'add', 'addRateLimited', 'forget', 'done', 'done'), key: keyArbitrary }),
  fc.record({ kind: fc.constant('addAfter' as const), key: keyArbitrary, ms: fc.constantFrom(0, 1, 7, 30) }),
  fc.record({ kind: fc.constant('advance' as const), ms: fc.constantFrom(1, 4, 20) }),
  fc.constant({ kind: 'get' as const }),
)

async function equalsModel(calls: readonly Call[], atOnceOfNamespace: number): Promise<void> {
  const clock = new FakeClock()
  const queue = createWorkQueue({ clock, backOffMaxMs: 80, atOnceOfNamespace })
  const model = new Model(atOnceOfNamespace)
  for (const call of calls) {
    if (call.kind === 'get' && model.takeable().length === 0) continue
    if (call.kind === 'done' && !model.taken.has(call.key)) continue
    expect(await callQueue(queue, clock, call)).toEqual(callModel(model, call))
    expect({ ready: queue.ready, delayed: queue.delayed }).toEqual({ ready: model.ready, delayed: model.wantedAtMs.size })
  }
  while (model.takeable().length > 0) expect(await queue.get()).toBe(model.get())
}

async function callQueue(queue: WorkQueue, clock: FakeClock, call: Call): Promise<unknown> {
  if (call.kind === 'get') return queue.get()
  if (call.kind === 'advance') return clock.advance(call.ms)
  if (call.kind === 'addAfter') return queue.addAfter(call.key, call.ms)
  return queue[call.kind](call.key)
}

function callModel(model: Model, call: Call): unknown {
  if (call.kind === 'get') return model.get()
  if (call.kind === 'advance') return model.advance(call.ms)
  if (call.kind === 'addAfter') return model.addAfter(call.key, call.ms)
  return model[call.kind](call.key)
}

describe('the work queue, with slow workers,', () => {
  it('W1 W2 W3 never gives a key to two workers, loses no add, and hands out no more than was added', async () => {
    await fc.assert(fc.asyncProperty(fc.array(signalArbitrary, { maxLength: 40 }), fc.array(fc.nat(30), { minLength: 1 }), serveSignals), {
      numRuns: 200,
    })
  })
})

type Signal = { readonly afterMs: number; readonly key: string; readonly delayMs: number }

const signalArbitrary: fc.Arbitrary<Signal> = fc.record({
  afterMs: fc.nat(10),
  key: keyArbitrary,
  delayMs: fc.constantFrom(0, 0, 0, 5, 25),
})

async function serveSignals(signals: readonly Signal[], durationsMs: readonly number[]): Promise<void> {
  const clock = new FakeClock()
  const queue = createWorkQueue({ clock })
  const inHand = new Set<string>()
  const starts: { readonly key: string; readonly order: number }[] = []
  const adds: { readonly key: string; readonly order: number }[] = []
  let order = 0
  const serve = async (): Promise<void> => {
    for (let key = await queue.get(); key !== null; key = await queue.get()) {
      expect(inHand.has(key)).toBe(false)
      inHand.add(key)
      starts.push({ key, order: order++ })
      await sleep(clock, durationsMs[starts.length % durationsMs.length]!)
      inHand.delete(key)
      queue.done(key)
    }
  }
  const workers = Promise.all([serve(), serve(), serve()])
  for (const { afterMs, key, delayMs } of signals) {
    await clock.advanceAsync(afterMs)
    adds.push({ key, order: order++ })
    queue.addAfter(key, delayMs)
  }
  await clock.advanceAsync(10_000)
  queue.shutDown()
  await workers
  for (const add of adds) expect(starts.some((start) => start.key === add.key && start.order > add.order)).toBe(true)
  expect(starts.length).toBeLessThanOrEqual(adds.length)
}
