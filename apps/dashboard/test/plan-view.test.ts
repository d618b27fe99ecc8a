import { ApiProblemError } from '@tranche/api-client'
import type { Forecast } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { describe, expect, it } from 'vitest'
import { comparePlans } from '../src/pages/plan/compare-plans.ts'
import { planAdvice } from '../src/pages/plan/plan-advice.ts'
import {
  commandOf,
  faultsOf,
  faultyInput,
  noInputs,
  type PlanInputs,
  type PlanQuery,
  planQueryOf,
  requestOf,
  urlQueryOf,
} from '../src/pages/plan/plan-inputs.ts'
import { lengthOf, rangeText, timelineOf } from '../src/pages/plan/plan-timeline.ts'
import { curveOf, curveText } from '../src/pages/plan/unavailable-curve.ts'
import { runPlan } from '../src/pages/plan/run-plan.ts'

/** Three nodes in two batches with a timed pause between them. */
const forecast: Forecast = {
  nodes: [
    { name: 'a', batch: 1, order: 1, reason: 'oldest pod', atSeconds: 0 },
    { name: 'b', batch: 2, order: 2, reason: 'next', atSeconds: 80 },
    { name: 'c', batch: 2, order: 3, reason: 'next', atSeconds: 90 },
  ],
  etaSeconds: { low: 90, high: 100 },
  peakUnavailable: 1,
  maxUnavailable: 2,
  unavailable: [
    { atSeconds: 0, nodes: 0 },
    { atSeconds: 1.5, nodes: 1 },
    { atSeconds: 20, nodes: 0 },
    { atSeconds: 80, nodes: 1 },
    { atSeconds: 100, nodes: 0 },
  ],
  outcome: 'Completes',
  nodesHit: 3,
  message: 'It completes.',
  batches: [
    { index: 1, nodes: 1, startSeconds: 0, endSeconds: 20, pause: '60s' },
    { index: 2, nodes: 2, startSeconds: 80, endSeconds: 100 },
  ],
  assumptions: [],
}
const inputs = (changes: Partial<PlanInputs>): PlanInputs => ({ ...noInputs, ...changes })

describe('the curve of unavailable nodes', () => {
  it('goes to the end of the time that plans side by side share', () => {
    const { seconds, nodes, wholeSeconds } = curveOf(forecast, 130)!
    expect([seconds, nodes, wholeSeconds]).toEqual([[0, 1.5, 20, 80, 100, 130], [0, 1, 0, 1, 0, 0], 130])
  })

  it('goes to its last change if that is later', () => {
    expect(curveOf(forecast, 90)).toMatchObject({ seconds: [0, 1.5, 20, 80, 100], wholeSeconds: 100 })
  })

  it.each([
    ['the limit', 5, 5],
    ['its own peak, above the limit', 0, 1],
  ])('leaves room above %s', (_title, maxUnavailable, highest) => {
    const { top, limit } = curveOf({ ...forecast, maxUnavailable }, 100)!
    expect([top > highest, top < highest * 2, limit]).toEqual([true, true, maxUnavailable])
  })

  it('is not drawn if no node is ever unavailable', () => {
    expect(curveOf({ ...forecast, unavailable: [{ atSeconds: 0, nodes: 0 }] }, 100)).toBeNull()
  })

  it('is described in words: start, peak, end and limit', () => {
    expect(curveText(forecast)).toBe(
      'Unavailable nodes over time: 0 at the start; at most 1, first after 1s; 0 from 1m 40s on; 2 nodes allowed',
    )
    const stuck = [0, 3].map((nodes) => ({ atSeconds: nodes * 100, nodes }))
    expect(curveText({ ...forecast, unavailable: stuck, maxUnavailable: 1 })).toBe(
      'Unavailable nodes over time: 0 at the start; at most 3, first after 5m 00s; 3 from 5m 00s on; 1 node allowed',
    )
  })
})

describe('the inputs of a plan', () => {
  it.each<[string, PlanQuery]>([
    ['of one plan without assumptions', { first: noInputs, second: null, node: '' }],
    [
      'of two plans',
      {
        first: inputs({ image: 'agent=registry.example/agent:v3' }),
        second: inputs({ faults: ['5% crash', 'node-7 is NotReady'], approveMinutes: 10 }),
        node: 'node-7',
      },
    ],
    ['of a second plan without assumptions', { first: inputs({ approveMinutes: 5 }), second: noInputs, node: '' }],
  ])('%s come back from the URL', (_title, query) => {
    expect(planQueryOf(urlQueryOf(query))).toEqual(query)
  })

  it('leave defaults out of the URL', () => {
    expect(urlQueryOf({ first: noInputs, second: null, node: '' })).toEqual({})
  })

  it.each(['-1', '1.5', 'soon', '1441', ''])('ignore the approval time %j of a URL', (approve) => {
    expect(planQueryOf({ approve }).first.approveMinutes).toBe(0)
  })

  it('take faults from lines and commas', () => {
    expect(faultsOf(' node-7  fails,\n\n5% crash ,')).toEqual(['node-7 fails', '5% crash'])
  })

  it.each<[string, PlanInputs, string | null]>([
    ['no fault', noInputs, null],
    ['twenty faults', inputs({ faults: Array.from({ length: 20 }, () => '1 crash') }), null],
    [
      'more than twenty',
      inputs({ faults: Array.from({ length: 21 }, () => '1 crash') }),
      'These are 21 faults; a forecast takes at most 20.',
    ],
    ['a long fault', inputs({ faults: [`${'n'.repeat(200)} fails`] }), 'A fault has 206 characters; at most 200 are possible.'],
  ])('are checked before the request: %s', (_title, one, want) => {
    expect(faultyInput(one)).toBe(want)
  })

  it('become a request without defaults', () => {
    expect(requestOf(noInputs)).toEqual({})
    expect(requestOf(inputs({ image: 'agent:v3', faults: ['3 crash'], approveMinutes: 2 }))).toEqual({
      image: 'agent:v3',
      if: ['3 crash'],
      approveAfterSeconds: 120,
    })
  })

  it('become a command that a shell reads as it is meant', () => {
    const key = { namespace: 'demo', name: 'node-agent' }
    expect(commandOf(key, noInputs)).toBe('tranche plan node-agent --namespace demo')
    expect(commandOf(key, inputs({ image: 'agent=agent:v3', faults: ["it's $HOME fails"], approveMinutes: 10 }))).toBe(
      String.raw`tranche plan node-agent --namespace demo --image agent=agent:v3 --if 'it'\''s $HOME fails' --approve-after 10m`,
    )
  })
})

describe('the timeline of a forecast', () => {
  it('has the batches and their pauses in thousandths of the whole', () => {
    expect(timelineOf(forecast, 100).rows).toEqual([
      {
        ...{ index: 1, nodes: 1, startSeconds: 0, readySeconds: 20, after: 'pause of 1m 00s' },
        ...{ work: { x: 0, width: 200 }, pause: { x: 200, width: 600 } },
      },
      { index: 2, nodes: 2, startSeconds: 80, readySeconds: 100, after: '', work: { x: 800, width: 200 }, pause: null },
    ])
  })

  it('keeps a short batch visible, within the picture', () => {
    const short: Forecast = { ...forecast, batches: [{ index: 1, nodes: 1, startSeconds: 86_400, endSeconds: 86_401 }] }
    expect(timelineOf(short, 86_401).rows[0]?.work).toEqual({ x: 996, width: 4 })
  })

  it('draws a batch that never becomes ready up to the end, without a pause', () => {
    const stuck: Forecast = { ...forecast, batches: [{ index: 1, nodes: 1, startSeconds: 50, endSeconds: null, pause: 'person' }] }
    expect(timelineOf(stuck, 100).rows[0]).toMatchObject({ work: { x: 500, width: 500 }, pause: null, after: '' })
  })

  it('draws no pause that is over at once', () => {
    const approved = { index: 1, nodes: 1, startSeconds: 0, endSeconds: 80, pause: 'person' }
    expect(timelineOf({ ...forecast, batches: [approved, forecast.batches[1]!] }, 100).rows[0]?.pause).toBeNull()
  })

  it.each<[string, Partial<Forecast>, number]>([
    ['the latest end', {}, 100],
    ['the last pause without an end', { etaSeconds: null, batches: [{ ...forecast.batches[0]!, pause: '600s' }] }, 620],
    [
      'the start of a stuck batch',
      { etaSeconds: null, unavailable: [], batches: [{ index: 1, nodes: 1, startSeconds: 70, endSeconds: null }] },
      70,
    ],
    ['the last change of unavailable nodes', { etaSeconds: null, batches: [], unavailable: [{ atSeconds: 130, nodes: 1 }] }, 130],
    ['a second without batches', { etaSeconds: null, unavailable: [], batches: [] }, 1],
  ])('is as long as %s', (_title, changes, want) => {
    expect(lengthOf({ ...forecast, ...changes })).toBe(want)
  })

  it('writes a range once if both ends are the same', () => {
    expect(rangeText({ low: 61, high: 61.4 })).toBe('1m 01s')
    expect(rangeText({ low: 61, high: 125 })).toBe('1m 01s to 2m 05s')
  })
})

describe('the differences of two plans', () => {
  it.each<[string, Partial<Forecast>, readonly string[]]>([
    ['none', {}, []],
    ['the outcome', { outcome: 'RollsBack' }, ['A completes, and B rolls back.']],
    ['fewer nodes', { nodesHit: 1 }, ['B brings the new version to 1 node, 2 fewer than A.']],
    ['a later end', { etaSeconds: { low: 90, high: 160 } }, ['B ends later: in 1m 30s to 2m 40s instead of 1m 30s to 1m 40s.']],
    ['an earlier end', { etaSeconds: { low: 30, high: 30 } }, ['B ends earlier: in 30s instead of 1m 30s to 1m 40s.']],
    ['no end', { etaSeconds: null }, ['Only A ends by itself, in 1m 30s to 1m 40s.']],
    ['more nodes down', { peakUnavailable: 2 }, ['At most 2 nodes of 2 allowed are down at a time with B, 1 of 2 with A.']],
    ['another number of batches', { batches: forecast.batches.slice(0, 1) }, ['B has 1 batch, and A 2.']],
    [
      'the size of a batch',
      { batches: forecast.batches.map((batch) => ({ ...batch, nodes: 2 })) },
      ['Batch 1 has 2 nodes with B and 1 with A.'],
    ],
    [
      'the order',
      { nodes: forecast.nodes.map((one) => ({ ...one, order: one.order === 1 ? 1 : 5 - one.order })) },
      ['The order differs from place 2: B updates c, and A b.'],
    ],
    [
      'a node that only A updates, which does not count as another order',
      { nodes: forecast.nodes.map((one) => (one.name === 'a' ? { ...one, order: 0, batch: 0 } : one)) },
      ['Only A updates a.'],
    ],
    [
      'many nodes that only B updates',
      { nodes: [...forecast.nodes, ...['d', 'e', 'f', 'g', 'h', 'i'].map((name, at) => ({ name, batch: 2, order: 4 + at, reason: '' }))] },
      ['Only B updates d, e, f, g, h and 1 more.'],
    ],
  ])('are listed in words: %s', (_title, changes, want) => {
    expect(comparePlans(forecast, { ...forecast, ...changes })).toEqual(want)
  })
})

describe('a forecast that fails', () => {
  it.each([
    ['RATE_LIMITED', /one forecast of a user at a time/, true],
    ['NOT_READY', /no time limit/, true],
    ['API_DEADLINE', /no time limit/, true],
    ['FORECAST_INVALID', /Change the form/, true],
    ['WORKLOAD_NOT_FOUND', /until the DaemonSet exists/, false],
  ] as const)('says what to do about %s', (code, text, suggestsCommand) => {
    expect(planAdvice(new AppError(code, 'no'))).toEqual({ text: expect.stringMatching(text), suggestsCommand })
  })

  it('leaves other errors to explain themselves', () => {
    expect(planAdvice(new AppError('ACCESS_DENIED', 'no'))).toBeNull()
    expect(planAdvice(new Error('bug'))).toBeNull()
  })
})

describe('asking for a forecast', () => {
  const key = { namespace: 'demo', name: 'agent' }
  const busy = new ApiProblemError('POST /plan', {
    status: 429,
    body: JSON.stringify({ type: '/errors/RATE_LIMITED', title: '', status: 429, code: 'RATE_LIMITED', detail: 'a forecast is running' }),
    retryAfter: '2',
  })

  /** Answers that the server gives one after the other. */
  function asked(answers: readonly (Error | Forecast)[]) {
    const waits: number[] = []
    let at = 0
    const plan = async (): Promise<Forecast> => {
      const answer = answers[at++]
      if (answer === undefined) throw new Error('the test has no further answer')
      if (answer instanceof Error) throw answer
      return answer
    }
    const wait = async (ms: number): Promise<void> => void waits.push(ms)
    return { waits, requests: () => at, result: runPlan(key, {}, { api: { plan }, signal: new AbortController().signal, wait }) }
  }

  it('waits as long as the server says while another forecast of the user runs', async () => {
    const { result, waits } = asked([busy, busy, forecast])
    await expect(result).resolves.toBe(forecast)
    expect(waits).toEqual([2_000, 2_000])
  })

  it('gives up after three attempts', async () => {
    const { result, requests } = asked([busy, busy, busy, forecast])
    await expect(result).rejects.toBe(busy)
    expect(requests()).toBe(3)
  })

  it('does not repeat any other error, because a forecast is expensive', async () => {
    const stuck = new AppError('NOT_READY', 'busy')
    const { result, requests } = asked([stuck, forecast])
    await expect(result).rejects.toBe(stuck)
    expect(requests()).toBe(1)
  })
})
