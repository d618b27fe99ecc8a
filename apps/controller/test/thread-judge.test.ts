import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { JudgedAnswer } from '@tranche/analysis'
import { systemClock } from '@tranche/clock'
import { createThreadJudge, type ThreadJudgeParts } from '@tranche/controller'
import { describe, expect, it } from 'vitest'

const never = new AbortController().signal

describe('judging in a thread', () => {
  it('keeps the loop of the controller free while a condition takes all the steps that it may', async () => {
    await using judge = startJudge()
    // The thread's own start is not what is looked at.
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
    // Other work on the machine delays the loop too, by less than what is judged.
    expect(loop.max / 1e6).toBeLessThan(tookMs / 2)
  })

  it('ends a thread that takes too long, names the condition, and judges the next answer in another thread', async () => {
    await using judge = startJudge({ longestMs: 1 })
    expect(await judge.ask('demo', costly)).toEqual({
      phase: 'Error',
      message:
        'analysis errors: successCondition "result.all(a, result.all(b, [a, b].size() == 2))" took more than 1 ms for this answer: ask for a smaller answer, or loop over less',
    })
    await using next = startJudge()
    expect(await next.ask('demo', quick)).toMatchObject({ phase: 'Successful' })
  })

  it('ends a thread that takes too much memory, and judges the next answer in another thread', async () => {
    await using judge = startJudge({ mebibytes: 32 })
    const large = { ...costly, answer: { ...costly.answer, body: `[${'{},'.repeat(349_000)}{}]` } }
    expect(await judge.ask('demo', large)).toMatchObject({
      phase: 'Error',
      message: expect.stringContaining('took more than 32 MiB of memory'),
    })
    expect(await judge.ask('demo', quick)).toMatchObject({ phase: 'Successful' })
  })

  it('has memory enough for the answers of 1 MiB that take most', async () => {
    await using judge = startJudge()
    const body = `[${'{},'.repeat(349_000)}{}]`
    for (const successCondition of ['size(result) > 1', 'result == result', 'result.map(x, x).size() > 1'])
      expect(
        await judge.ask('demo', { ...quick, analysis: { ...quick.analysis, successCondition }, answer: { ...quick.answer, body } }),
      ).toMatchObject({
        phase: 'Successful',
      })
  })

  it('lets another namespace wait for one answer of a namespace that has eight, and rejects a ninth', async () => {
    await using judge = startJudge()
    const ended: string[] = []
    const many = Array.from({ length: 8 }, () => judge.ask('hostile', costly).then(() => ended.push('hostile')))
    expect(await judge.ask('hostile', costly)).toMatchObject({ phase: 'Error', message: expect.stringContaining('too many answers') })
    const other = judge.ask('demo', quick).then(() => ended.push('demo'))
    await other
    expect(ended.filter((namespace) => namespace === 'hostile').length).toBeLessThanOrEqual(1)
    await Promise.all(many)
  })

  it('ends what it judges when the measurement ends', async () => {
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

/** Takes all the steps of an evaluation: 150 ms alone on a machine, some 2 s beside other work. */
const costly: JudgedAnswer = {
  analysis: { ...quick.analysis, successCondition: 'result.all(a, result.all(b, [a, b].size() == 2))' },
  values: {},
  answer: { ...quick.answer, body: JSON.stringify(Array.from({ length: 2000 }, () => 1)) },
}

/** Takes half a second, most of it for reading the answer: 1 MiB of lists. */
const costliest: JudgedAnswer = { ...costly, answer: { ...costly.answer, body: `[${'[],'.repeat(349_000)}[]]` } }

function startJudge(limits: Omit<ThreadJudgeParts, 'clock'> = {}) {
  const judge = createThreadJudge({ clock: systemClock, ...limits })
  return {
    ask: (namespace: string, judged: JudgedAnswer, signal = never) => judge.judge(namespace, judged, signal),
    [Symbol.asyncDispose]: () => judge.close(),
  }
}
