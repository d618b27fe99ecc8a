import type { Exchange } from '@tranche/wire'
import { describe, expect, it } from 'vitest'
import { costDifferences, measuredReleases, readCosts } from './recorded-costs.ts'
import { type MeasuredRelease, measureRelease } from './release-costs.ts'

const small: MeasuredRelease = { nodes: 10, limit: 2 }

describe('costs of a release', () => {
  it.each(Object.entries(measuredReleases))(
    'are as recorded: %s (`pnpm costs --record` after a change on purpose)',
    async (name, release) => {
      expect(costDifferences(readCosts()[name] ?? {}, await measureRelease(release))).toEqual([])
    },
  )

  it('are the same in each run', async () => {
    expect(await measureRelease(small)).toEqual(await measureRelease(small))
  })

  it('rise by one planted patch per node', async () => {
    const differences = await planted((request) => request.method === 'DELETE', {
      method: 'PATCH',
      path: '/api/v1/namespaces/demo/pods/any',
    })
    expect(differences).toContain('executor PATCH pods: rose from 0 to 10')
  })

  it('rise by one planted list', async () => {
    let isListed = false
    const once = ({ method }: { readonly method: string }): boolean => method === 'DELETE' && !isListed && (isListed = true)
    const differences = await planted(once, { method: 'GET', path: '/api/v1/namespaces/demo/pods' })
    expect(differences).toContain('executor LIST pods: rose from 0 to 1')
  })
})

describe('a comparison of costs', () => {
  it.each([
    ['finds nothing in equal costs', { a: 1 }, { a: 1 }, []],
    ['finds a rise', { a: 1 }, { a: 2 }, ['a: rose from 1 to 2']],
    ['finds a fall', { a: 2 }, { a: 1 }, ['a: fell from 2 to 1']],
    ['finds a cost that is new', {}, { a: 1 }, ['a: rose from 0 to 1']],
    ['finds a cost that is gone', { a: 1 }, {}, ['a: fell from 1 to 0']],
  ])('%s', (_name, recorded, measured, differences) => {
    expect(costDifferences(recorded, measured)).toEqual(differences)
  })
})

type Request = Parameters<Exchange>[0]

/** @returns differences that the executor makes by sending `extra` before each request that `matches` */
async function planted(matches: (request: Request) => boolean, extra: Pick<Request, 'method' | 'path'>): Promise<readonly string[]> {
  const tap = (identity: string, exchange: Exchange): Exchange =>
    identity !== 'executor-1'
      ? exchange
      : async (request, signal) => {
          if (matches(request)) await exchange({ headers: request.headers, ...extra }, signal)
          return exchange(request, signal)
        }
  return costDifferences(await measureRelease(small), await measureRelease({ ...small, tap }))
}
