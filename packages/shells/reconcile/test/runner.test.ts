import { FakeClock, sleep } from '@tranche/clock'
import { AppError } from '@tranche/errors'
import {
  awaitChange,
  createRunner,
  createWorkQueue,
  recheckAfter,
  type PassObservation,
  type Reconcile,
  type RunnerOptions,
} from '@tranche/reconcile'
import { describe, expect, it } from 'vitest'
import { recordingLogger, type LogLine } from './recording-logger.ts'

describe('createRunner', () => {
  it('runs a pass with the key that was added, and is silent when nothing is wrong', async () => {
    const keys: unknown[] = []
    const bench = newBench(async (key) => (keys.push(key), awaitChange))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(0)
    expect(keys).toEqual([{ namespace: 'default', name: 'agent' }])
    expect(bench.lines).toEqual([])
  })

  it('does not rerun a pass that awaits a change', async () => {
    const bench = newBench(async () => awaitChange)
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(1_000_000)
    expect(bench.observations).toHaveLength(1)
  })

  it('reruns a pass after the requested delay', async () => {
    const bench = newBench(async () => recheckAfter(500))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(499)
    expect(bench.observations).toHaveLength(1)
    await bench.clock.advanceAsync(1)
    expect(bench.observations).toHaveLength(2)
  })

  it('leaves time between passes that recheck at once, so that the watches can catch up', async () => {
    const bench = newBench(async () => recheckAfter(0))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(10)
    expect(bench.observations).toHaveLength(11)
  })

  it('runs as many passes in parallel as it has workers, each for another key', async () => {
    const running: string[] = []
    const bench = newBench((key) => (running.push(key.name), new Promise<never>(() => {})), { workers: 2 })
    for (const name of ['a', 'a', 'b', 'c']) bench.queue.add(`default/${name}`)
    await bench.clock.advanceAsync(0)
    expect(running).toEqual(['a', 'b'])
  })

  it('does other work of the process after some passes in a row, and none is lost', async () => {
    const bench = newBench(async () => awaitChange)
    for (let at = 0; at < 100; at++) bench.queue.add(`default/${at}`)
    for (let turn = 0; turn < 500; turn++) await Promise.resolve()
    expect(bench.observations.length).toBeLessThanOrEqual(8)
    await bench.clock.advanceAsync(0)
    expect(bench.observations).toHaveLength(100)
  })

  const failures: Record<string, { error: unknown; backMs: number; line: Partial<LogLine> }> = {
    'a retryable error comes back after its back-off': {
      error: new AppError('API_UNREACHABLE', 'no answer'),
      backMs: 5,
      line: { level: 'warn', message: 'pass failed' },
    },
    'a foreign error comes back after its back-off and is logged as an error': {
      error: new TypeError('undefined is not a function'),
      backMs: 5,
      line: { level: 'error', message: 'pass failed unexpectedly' },
    },
    'a first conflict comes back after its back-off and is logged at debug': {
      error: new AppError('WRITE_CONFLICT', 'changed'),
      backMs: 5,
      line: { level: 'debug', message: 'pass had a write conflict' },
    },
    'rejected credentials come back after their back-off and are logged at debug, because the client logs them': {
      error: new AppError('API_REFUSED', 'Unauthorized', { details: { status: 401 } }),
      backMs: 5,
      line: { level: 'debug', message: 'pass failed' },
    },
    'an error that the user must fix comes back after a long time': {
      error: new AppError('BATCH_SIZE_INVALID', '120%'),
      backMs: 300_000,
      line: { level: 'error', message: 'pass failed; a person must act' },
    },
    'an error without a remedy comes back after a long time': {
      error: new AppError('INVARIANT_BROKEN', 'impossible'),
      backMs: 300_000,
      line: { level: 'error', message: 'pass failed; a person must act' },
    },
    'a thrown value that is not an error comes back after its back-off': {
      error: 'oops',
      backMs: 5,
      line: { level: 'error', message: 'pass failed unexpectedly' },
    },
  }
  it.each(Object.entries(failures))('%s', async (_title, { error, backMs, line }) => {
    const bench = newBench(() => Promise.reject(error as Error))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(backMs - 1)
    expect(bench.lines).toEqual([expect.objectContaining(line)])
    expect(bench.lines[0]?.fields).toMatchObject({
      controller: 'test',
      reconcileId: 'test-1',
      key: 'default/agent',
      attempt: 1,
      err: error,
    })
    await bench.clock.advanceAsync(1)
    expect(bench.observations).toHaveLength(2)
  })

  it('doubles the back-off with each failure in a row and resets it after a success', async () => {
    const startedMs: number[] = []
    const bench = newBench(async () => {
      startedMs.push(bench.clock.monotonicMs())
      if (startedMs.length === 4) return recheckAfter(0)
      throw new AppError('API_UNREACHABLE', 'no answer')
    })
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(45)
    expect(startedMs).toEqual([0, 5, 15, 35, 36, 41])
  })

  it('warns of five conflicts in a row', async () => {
    const bench = newBench(() => Promise.reject(new AppError('WRITE_CONFLICT', 'changed')))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(5 + 10 + 20 + 40)
    expect(bench.lines.map((line) => line.level)).toEqual(['debug', 'debug', 'debug', 'debug', 'warn'])
  })

  it('rechecks a key that needs a person after the configured delay', async () => {
    const bench = newBench(() => Promise.reject(new AppError('BATCH_SIZE_INVALID', '120%')), { awaitFixRecheckMs: 700 })
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(699)
    expect(bench.observations).toHaveLength(1)
    expect(bench.lines[0]?.fields).toMatchObject({ recheckAfterMs: 700 })
    await bench.clock.advanceAsync(1)
    expect(bench.observations).toHaveLength(2)
  })

  it('rechecks a key that needs a person as soon as it changes', async () => {
    const bench = newBench(() => Promise.reject(new AppError('BATCH_SIZE_INVALID', '120%')))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(0)
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(0)
    expect(bench.observations).toHaveLength(2)
  })

  it('survives a pass that throws synchronously, and an observer that throws', async () => {
    const reconcile = (): never => {
      throw new Error('a programming error')
    }
    const observe = (): never => {
      throw new Error('another one')
    }
    const bench = newBench(reconcile, { observe })
    bench.queue.add('default/a')
    bench.queue.add('default/b')
    await bench.clock.advanceAsync(0)
    expect(bench.lines.map((line) => `${line.fields['key'] as string} ${line.message}`)).toEqual([
      'default/a pass failed unexpectedly',
      'default/a observer failed',
      'default/b pass failed unexpectedly',
      'default/b observer failed',
    ])
  })

  it('aborts the signal of a pass at its deadline and retries it', async () => {
    const bench = newBench((_key, signal) => untilAborted(signal), { deadlineMs: 1_000 })
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(999)
    expect(bench.observations).toEqual([])
    await bench.clock.advanceAsync(1)
    expect(bench.observations).toEqual([{ name: 'test', durationMs: 1_000, outcome: 'retry' }])
    expect(bench.lines[0]?.fields).toMatchObject({ code: 'API_DEADLINE', durationMs: 1_000 })
  })

  it('logs once when a pass ignores its deadline', async () => {
    const bench = newBench(() => new Promise<never>(() => {}), { deadlineMs: 1_000 })
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(1_999)
    expect(bench.lines).toEqual([])
    await bench.clock.advanceAsync(10_000)
    expect(bench.lines).toEqual([expect.objectContaining({ level: 'error', message: 'pass ignores its deadline' })])
    expect(bench.lines[0]?.fields).toMatchObject({ key: 'default/agent', durationMs: 2_000 })
  })

  it('observes the name, duration and outcome of every pass', async () => {
    const bench = newBench(async () => {
      await sleep(bench.clock, 30)
      return recheckAfter(70)
    })
    await bench.clock.advanceAsync(500)
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(30)
    expect(bench.observations).toEqual([{ name: 'test', durationMs: 30, outcome: 'recheckAfter' }])
  })

  it('gives every pass a unique id', async () => {
    const bench = newBench(() => Promise.reject(new Error('no')), { workers: 2 })
    bench.queue.add('default/a')
    bench.queue.add('default/b')
    await bench.clock.advanceAsync(0)
    expect(new Set(bench.lines.map((line) => line.fields['reconcileId'])).size).toBe(2)
  })
})

describe('stopping a runner', () => {
  it('lets a running pass end and starts no other', async () => {
    const bench = newBench(async (_key, signal) => {
      await sleep(bench.clock, 100, signal)
      return awaitChange
    })
    bench.queue.add('default/a')
    bench.queue.add('default/b')
    await bench.clock.advanceAsync(0)
    let isStopped = false
    const stopped = bench.runner.stop(1_000).then(() => (isStopped = true))
    await bench.clock.advanceAsync(99)
    expect(isStopped).toBe(false)
    await bench.clock.advanceAsync(1)
    await stopped
    expect(bench.observations.map((observation) => observation.outcome)).toEqual(['awaitChange'])
    expect(bench.clock.pendingTimers).toBe(0)
  })

  it('aborts a pass that outlasts the grace, without a line in the log', async () => {
    const bench = newBench((_key, signal) => untilAborted(signal))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(0)
    const stopped = bench.runner.stop(50)
    await bench.clock.advanceAsync(50)
    await stopped
    expect(bench.observations.map((observation) => observation.outcome)).toEqual(['stopped'])
    expect(bench.lines).toEqual([])
  })

  it('waits no longer than the grace for a pass that ignores its signal', async () => {
    const bench = newBench(() => new Promise<never>(() => {}))
    bench.queue.add('default/agent')
    await bench.clock.advanceAsync(0)
    const stopped = bench.runner.stop(50)
    await bench.clock.advanceAsync(50)
    await stopped
  })

  it('ends at once when it was never started', async () => {
    const clock = new FakeClock()
    const runner = createRunner({
      name: 'test',
      queue: createWorkQueue({ clock }),
      reconcile: async () => awaitChange,
      clock,
      log: recordingLogger([]),
    })
    await runner.stop(1_000)
    expect(clock.pendingTimers).toBe(0)
  })
})

function newBench(reconcile: Reconcile, options: Partial<RunnerOptions> = {}) {
  const clock = new FakeClock()
  const queue = createWorkQueue({ clock })
  const lines: LogLine[] = []
  const observations: PassObservation[] = []
  const observe = (observation: PassObservation): void => void observations.push(observation)
  const runner = createRunner({ name: 'test', queue, reconcile, clock, log: recordingLogger(lines), observe, ...options })
  runner.start()
  return { clock, queue, lines, observations, runner }
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
}
