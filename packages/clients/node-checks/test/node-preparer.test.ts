import type { NodeCheck, Preparation } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import type { Check, CheckTarget } from '../src/check.ts'
import { createNodePreparer } from '../src/node-preparer.ts'

const target = {} as CheckTarget
const signal = new AbortController().signal
const permit = { node: 'a', purpose: 'permit' } as const
const wait: NodeCheck = { kind: 'pending', againInMs: 1 }
const block: NodeCheck = { kind: 'blocked', reason: 'NoRoom', message: 'is odd' }

/** A check with this answer; null: the policy does not ask for it. */
function aCheck(answer: NodeCheck | null, fields: Partial<Check> = {}): Check & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    name: 'one',
    rules: () => undefined,
    preparations: () => [],
    async check(_target, { node }) {
      asked.push(node)
      return answer
    },
    async undo(_target, node) {
      asked.push(`undo ${node}`)
    },
    async sweep() {
      asked.push('sweep')
    },
    ...fields,
  }
}

function aPreparation(node: string, check: string): Preparation {
  return { node, check, state: 'begun', isAhead: false, isStale: false, changesAtMs: null }
}

describe('a node with several checks', () => {
  const ready = (purpose: 'permit' | 'deletion'): Check => aCheck({ kind: 'ready', for: purpose })

  it.each<[sentence: string, checks: readonly Check[], answer: NodeCheck]>([
    ['is ready where no check is asked for', [aCheck(null)], { kind: 'ready', for: 'deletion' }],
    ['is ready when all are', [ready('deletion'), aCheck(null), ready('deletion')], { kind: 'ready', for: 'deletion' }],
    ['is ready for the weakest purpose of all', [ready('deletion'), ready('permit')], { kind: 'ready', for: 'permit' }],
    ['is what the first says that is not ready', [ready('deletion'), aCheck(wait), aCheck(block)], wait],
    ['is blocked when the first is', [aCheck(block), aCheck(wait)], block],
  ])('%s', async (_sentence, checks, answer) => {
    expect(await createNodePreparer(checks).check(target, permit, signal)).toEqual(answer)
  })

  it('is not asked for the rest once one does not find it ready', async () => {
    const rest = aCheck(wait)
    await createNodePreparer([aCheck(block), rest]).check(target, permit, signal)
    expect(rest.asked).toEqual([])
  })

  it('is prepared ahead without being ready for a permit', async () => {
    const answer = await createNodePreparer([ready('deletion')]).check(target, { node: 'a', purpose: 'ahead' }, signal)
    expect(answer).toEqual({ kind: 'ready', for: 'ahead' })
  })
})

describe('what checks did on nodes', () => {
  it('is absent where the policy asks for nothing and nothing was done', () => {
    expect(createNodePreparer([aCheck(null)]).read(target)).toEqual({})
  })

  it('is listed by node, with the widest rules of all', () => {
    const one = aCheck(null, { rules: () => ({ ahead: 2 }), preparations: () => [aPreparation('a', 'one'), aPreparation('b', 'one')] })
    const two = aCheck(null, { name: 'two', rules: () => ({ ahead: 0 }), preparations: () => [aPreparation('a', 'two')] })
    const { preparation, prepared } = createNodePreparer([one, two]).read(target)
    expect(preparation).toEqual({ ahead: 2 })
    expect([...(prepared ?? [])].map(([node, done]) => [node, done.map(({ check }) => check)])).toEqual([
      ['a', ['one', 'two']],
      ['b', ['one']],
    ])
  })

  it('is undone by the check that did it', async () => {
    const one = aCheck(null)
    const two = aCheck(null, { name: 'two' })
    await createNodePreparer([one, two]).undo(target, { node: 'a', check: 'two' }, signal)
    expect([one.asked, two.asked]).toEqual([[], ['undo a']])
  })

  it('is swept by every check', async () => {
    const checks = [aCheck(null), aCheck(null)]
    await createNodePreparer(checks).sweep(signal)
    expect(checks.map(({ asked }) => asked)).toEqual([['sweep'], ['sweep']])
  })
})
