import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { JudgedAnswer } from '@tranche/analysis'
import { systemClock } from '@tranche/clock'
import { createThreadJudge, type ThreadJudgeParts } from '@tranche/controller'
import { describe, expect, it } from 'vitest'

const never = new AbortController().signal

describe('evaluation in a thread', () => {
  it('does not block the event loop while a condition uses all its steps', async () => {
    await using judge = startJudge()
    // The start of the thread is not measured.
    await judge.ask('demo', quick)
    const loop = monitorEventLoopDelay({ resolution: 5 })
    loop.enable()
    const began = performance.now()
    const outcome = await judge.ask('demo', costliest)
    const tookMs = performance.now() - began
    loop.disable()
    expect(outcome).toMatchObject({
      phase: 'Error',
      message:
        'successCondition "result.all(a, result.all(b, [a, b].size() == 2))" takes too many steps for this response (actual cost limit exceeded): query fewer values, or loop over fewer',
    })
    // Other work on the machine delays the event loop too, but by less than an evaluation.
    expect(loop.max / 1e6).toBeLessThan(tookMs / 2)
  })

  it('terminates a thread that takes too long, names the condition, and evaluates the next answer in a new thread', async () => {
    await using judge = startJudge({ longestMs: 1 })
    expect(await judge.ask('demo', costly)).toEqual({
      phase: 'Error',
      message:
        'analysis errors: successCondition "result.all(a, result.all(b, [a, b].size() == 2))" took more than 1 ms for this answer: ask for a smaller answer, or loop over less',
    })
    await using next = startJudge()
    expect(await next.ask('demo', quick)).toMatchObject({ phase: 'Successful' })
  })

  it('terminates a thread that needs too much memory, and evaluates the next answer in a new thread', async () => {
    await using judge = startJudge({ mebibytes: 32 })
    const large = { ...costly, answer: { ...costly.answer, body: `[${'{},'.repeat(349_000)}{}]` } }
    expect(await judge.ask('demo', large)).toMatchObject({
      phase: 'Error',
      message: expect.stringContaining('took more than 32 MiB of memory'),
    })
    expect(await judge.ask('demo', quick)).toMatchObject({ phase: 'Successful' })
  })

  it('has enough memory for the most expensive answers of 1 MiB', async () => {
    await using judge = startJudge()
    const body = `[${'{},'.repeat(349_000)}{}]`
    for (const successCondition of ['size(result) > 1', 'result == result', 'result.map(x, x).size() > 1'])
      expect(
        await judge.ask('demo', { ...quick, analysis: { ...quick.analysis, successCondition }, answer: { ...quick.answer, body } }),
      ).toMatchObject({
        phase: 'Successful',
      })
  })

  it('delays another namespace by one of eight answers of a namespace, and rejects a ninth', async () => {
    await using judge = startJudge()
    const ended: string[] = []
    const many = Array.from({ length: 8 }, () => judge.ask('hostile', costly).then(() => ended.push('hostile')))
    expect(await judge.ask('hostile', costly)).toMatchObject({ phase: 'Error', message: expect.stringContaining('too many answers') })
    const other = judge.ask('demo', quick).then(() => ended.push('demo'))
    await other
    expect(ended.filter((namespace) => namespace === 'hostile').length).toBeLessThanOrEqual(1)
    await Promise.all(many)
  })

  it('stops the evaluation when the measurement is aborted', async () => {
    await using judge = startJudge()
    const ending = new AbortController()
    const asked = judge.ask('demo', costly, ending.signal)
    ending.abort(new Error('the release is gone'))
    await expect(asked).rejects.toThrow('the release is gone')
    expect(await judge.ask('demo', quick)).toMatchObject({ phase: 'Successful' })
  })
})

const quick: JudgedAnswer = {
  analysis: { name: 'errors', http: { url: 'http://app' }, successCondition: 'result[0] == 1' },
  values: {},
  answer: { status: 200, contentType: 'application/json', body: '[1]' },
}

/** Uses all the steps of an evaluation: 150 ms on an idle machine, about 2 s on a busy one. */
const costly: JudgedAnswer = {
  analysis: { ...quick.analysis, successCondition: 'result.all(a, result.all(b, [a, b].size() == 2))' },
  values: {},
  answer: { ...quick.answer, body: JSON.stringify(Array.from({ length: 2000 }, () => 1)) },
}

/** Takes half a second, mostly for parsing the answer: 1 MiB of lists. */
const costliest: JudgedAnswer = { ...costly, answer: { ...costly.answer, body: `[${'[],'.repeat(349_000)}[]]` } }

function startJudge(limits: Omit<ThreadJudgeParts, 'clock'> = {}) {
  const judge = createThreadJudge({ clock: systemClock, ...limits })
  return {
    ask: (namespace: string, judged: JudgedAnswer, signal = never) => judge.judge(namespace, judged, signal),
    [Symbol.asyncDispose]: () => judge.close(),
  }
}
