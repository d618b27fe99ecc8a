import type { RolloutSummary } from '@tranche/api-schema'
import { afterEach, expect, it } from 'vitest'
import type { ReleaseReads } from '../src/cluster/release-reads.ts'
import { type ApiStage, aSummary, readsOf, startTestApi } from './fixtures.ts'

const namespaces = ['demo', 'other'] as const
/** 50 Rollouts, of which every tenth releases; those with an even number are in `demo`. */
const rollouts = Array.from({ length: 50 }, (_, at) =>
  aSummary({ namespace: namespaces[at % 2]!, name: `r${String(at).padStart(2, '0')}`, ...(at % 10 === 0 && { phase: 'Progressing' }) }),
)

let stage: ApiStage | undefined
afterEach(async () => {
  await stage?.end()
  stage = undefined
})

/** Reads that note which Rollouts are summarized. */
function countedReads(): { readonly reads: ReleaseReads; readonly summarized: string[] } {
  const summarized: string[] = []
  const reads = readsOf(rollouts)
  const summary: ReleaseReads['summary'] = (key) => {
    summarized.push(key.name)
    return reads.summary(key)
  }
  return { reads: { ...reads, summary }, summarized }
}

interface ListPage {
  readonly items: readonly RolloutSummary[]
  readonly total: number
  readonly next?: string
}

async function list(query: string): Promise<ListPage> {
  const answer = await stage!.app.inject({ url: `/api/v1/rollouts?${query}`, headers: stage!.as('admin') })
  expect(answer.statusCode).toBe(200)
  return answer.json<ListPage>()
}

const names = ({ items }: ListPage): readonly string[] => items.map(({ name }) => name)

it.each([
  { query: 'limit=1', shown: ['r00'], total: 50 },
  { query: 'limit=2&sort=name&order=desc', shown: ['r49', 'r48'], total: 50 },
  { query: 'limit=3&namespace=other', shown: ['r01', 'r03', 'r05'], total: 25 },
  { query: 'limit=2&phase=Progressing', shown: ['r00', 'r10'], total: 5 },
  { query: 'limit=2&sort=phase', shown: ['r02', 'r04'], total: 50 },
])('a list by $query summarizes only the Rollouts of its page', async ({ query, shown, total }) => {
  const { reads, summarized } = countedReads()
  stage = await startTestApi(reads)
  const page = await list(query)
  expect([names(page), page.total, summarized]).toEqual([shown, total, shown])
})

it.each(['q=r4', 'outcome=Done', 'need=false', 'sort=outcome', 'sort=updated'])(
  'a list by %s summarizes every Rollout once',
  async (query) => {
    const { reads, summarized } = countedReads()
    stage = await startTestApi(reads)
    await list(query)
    expect(summarized.toSorted()).toEqual(rollouts.map(({ name }) => name).toSorted())
  },
)

it('pages lead through every Rollout, and summarize each once', async () => {
  const { reads, summarized } = countedReads()
  stage = await startTestApi(reads)
  const seen: string[] = []
  let next: string | undefined
  do {
    const page = await list(`limit=7&sort=name${next === undefined ? '' : `&cursor=${next}`}`)
    seen.push(...names(page))
    ;({ next } = page)
  } while (next !== undefined)
  expect([seen, summarized]).toEqual([rollouts.map(({ name }) => name), seen])
})

it('a client with ten lists waiting is refused another one, and other clients are not', async () => {
  const { reads } = countedReads()
  stage = await startTestApi(reads)
  const { app, as, grant } = stage
  await grant('viewer', undefined, { verbs: ['list'] })
  const ask = async (user: string): Promise<number> => (await app.inject({ url: '/api/v1/rollouts?limit=1', headers: as(user) })).statusCode
  await Promise.all([ask('admin'), ask('viewer')])
  const many = Array.from({ length: 60 }, () => ask('admin'))
  const other = await ask('viewer')
  const codes = await Promise.all(many)
  expect(other).toBe(200)
  expect(new Set(codes)).toEqual(new Set([200, 429]))
  expect(codes.filter((code) => code === 200).length).toBeGreaterThanOrEqual(10)
})
