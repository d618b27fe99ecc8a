import type { ControllerRevision } from '@tranche/kube-types'
import { planCleanup, planHistory, revisionHash, templatePatch } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'

const template = (image: string): unknown => ({ metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'agent', image }] } })

function revision(number: number, image: string, hash = `h-${image}`): ControllerRevision {
  const name = `agent-${hash}`
  return {
    metadata: { name, uid: `${name}-${number}`, resourceVersion: '1', labels: { 'controller-revision-hash': hash } },
    revision: number,
    data: templatePatch(template(image)),
  }
}

describe('planHistory', () => {
  it('numbers the first revision 1', () => {
    expect(planHistory(template('v1'), [])).toEqual({ kind: 'create', number: 1, old: [] })
  })

  it('numbers a new template one above the highest', () => {
    expect(planHistory(template('v4'), [revision(7, 'v3'), revision(2, 'v1')])).toMatchObject({ kind: 'create', number: 8 })
  })

  it('keeps the newest revision when it holds the template', () => {
    const current = revision(2, 'v2')
    expect(planHistory(template('v2'), [current, revision(1, 'v1')])).toMatchObject({ kind: 'keep', current })
  })

  it('gives an older revision a new number when its template returns', () => {
    const current = revision(1, 'v1')
    const plan = planHistory(template('v1'), [current, revision(2, 'v2'), revision(3, 'v3')])
    expect(plan).toMatchObject({ kind: 'renumber', current, number: 4, old: [{ revision: 2 }, { revision: 3 }] })
  })

  it('takes the highest of several revisions with the same template', () => {
    expect(planHistory(template('v1'), [revision(3, 'v1', 'b'), revision(1, 'v1', 'a')])).toMatchObject({
      kind: 'keep',
      current: { revision: 3 },
    })
  })

  it('recognizes a template in any order of its fields', () => {
    const { spec, metadata } = template('v1') as { spec: unknown; metadata: unknown }
    expect(planHistory({ spec, metadata }, [revision(1, 'v1')])).toMatchObject({ kind: 'keep' })
  })

  it('does not recognize a template that an older server stored with a creationTimestamp of null', () => {
    const { spec } = template('v1') as { spec: unknown }
    const stored = { ...revision(1, 'v1'), data: templatePatch({ metadata: { creationTimestamp: null, labels: { app: 'agent' } }, spec }) }
    expect(planHistory(template('v1'), [stored])).toMatchObject({ kind: 'create', number: 2 })
  })

  it('103 separates other revisions with the same template', () => {
    const [low, high, other] = [revision(2, 'v1', 'a'), revision(5, 'v1', 'b'), revision(7, 'v2')]
    expect(planHistory(template('v1'), [low, high, other])).toEqual({
      kind: 'renumber',
      number: 8,
      current: high,
      duplicates: [low],
      old: [other],
    })
  })
})

describe('planCleanup', () => {
  const old = [revision(3, 'v3'), revision(1, 'v1'), revision(2, 'v2'), revision(4, 'v4')]
  const cases: readonly [name: string, limit: number, live: readonly string[], want: readonly number[]][] = [
    ['within the limit nothing goes', 4, [], []],
    ['the lowest numbers go first', 2, [], [1, 2]],
    ['a revision that pods carry is passed over', 2, ['h-v1'], [2, 3]],
    ['more than the limit stay when pods carry them', 0, ['h-v1', 'h-v2', 'h-v3'], [4]],
    ['limit 0 leaves none', 0, [], [1, 2, 3, 4]],
  ]

  it.each(cases)('%s', (_name, limit, live, want) => {
    expect(planCleanup(old, limit, new Set(live)).map((one) => one.revision)).toEqual(want)
  })
})

describe('revisionHash', () => {
  it('is the same for equal templates', () => {
    expect(revisionHash({ b: 1, a: [2] })).toBe(revisionHash({ a: [2], b: 1 }))
  })

  it('differs by template and by collision count', () => {
    const hashes = [revisionHash(template('v1')), revisionHash(template('v2')), revisionHash(template('v1'), 1)]
    expect(new Set(hashes).size).toBe(3)
  })

  it('has up to ten characters', () => {
    for (let at = 0; at < 100; at++) expect(revisionHash({ at })).toMatch(/^[456789bcdf]{1,10}$/)
  })
})
