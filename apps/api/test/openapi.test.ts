import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { describeApi } from '../src/index.ts'

interface Described {
  readonly openapi: string
  readonly paths: Readonly<
    Record<
      string,
      Readonly<Record<string, { readonly operationId?: string; readonly summary?: string; readonly security?: readonly object[] }>>
    >
  >
}

it('openapi.json is up to date: run pnpm generate', async () => {
  const written: unknown = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
  expect(JSON.parse(JSON.stringify(await describeApi()))).toEqual(written)
})

it('openapi.json is valid OpenAPI 3.1 with unique operation ids', async () => {
  const described = (await describeApi()) as Described
  const operations = Object.values(described.paths).flatMap((path) => Object.values(path))
  const names = operations.map(({ operationId }) => operationId)
  expect(described.openapi).toBe('3.1.0')
  expect(new Set(names).size).toBe(names.length)
  expect(operations.filter(({ summary }) => summary === undefined)).toEqual([])
})
