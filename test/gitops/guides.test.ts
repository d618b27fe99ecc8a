import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { actionNames } from './argo-cd.ts'

const examples = globSync('examples/gitops/**/*.yaml').flatMap((path) => documentsOf(readFileSync(path, 'utf8')))
const blocks = ['docs/guides/argo-cd.md', 'docs/guides/flux.md'].flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```/gm)].map(([, language = '', text = '']) => ({ path, language, text })),
)
const blocksOf = (language: string): readonly string[] => blocks.filter((block) => block.language === language).map(({ text }) => text)

describe('the blocks of the guides for GitOps', () => {
  it('are in languages that these tests check', () => {
    expect([...new Set(blocks.map(({ language }) => language))].toSorted()).toEqual(['csv', 'sh', 'yaml'])
  })

  it.each(
    blocksOf('yaml')
      .flatMap(documentsOf)
      .map((document) => [nameOf(document), document] as const),
  )('are parts of a file of the examples: %s', (_name, document) => {
    expect(
      examples.some((example) => isPart(document, example)),
      JSON.stringify(document),
    ).toBe(true)
  })

  it('grant permissions only for existing actions', () => {
    const lines = blocksOf('csv').flatMap((text) => text.trimEnd().split('\n'))
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) {
      const [kind, , resource, action = '', , effect] = line.split(', ')
      expect([kind, resource, effect]).toEqual(['p', 'applications', 'allow'])
      expect([...actionNames, '*'].map((name) => `action/rollouts.kruise.io/Rollout/${name}`)).toContain(action)
    }
  })
})

it('docs/guides/argo-cd.md lists every action', () => {
  const guide = readFileSync('docs/guides/argo-cd.md', 'utf8')
  const rows = [...guide.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '))
  expect(rows.toSorted()).toEqual(actionNames.toSorted())
})

function documentsOf(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([])
    return document.toJS() as unknown
  })
}

function nameOf(document: unknown): string {
  const { kind, metadata } = document as { kind?: string; metadata?: { name?: string } }
  return `${kind} ${metadata?.name}`
}

function isPart(part: unknown, whole: unknown): boolean {
  if (typeof part !== 'object' || part === null) return part === whole
  if (typeof whole !== 'object' || whole === null || Array.isArray(part) !== Array.isArray(whole)) return false
  if (Array.isArray(part) && part.length !== (whole as readonly unknown[]).length) return false
  return Object.entries(part).every(([key, value]) => isPart(value, (whole as Record<string, unknown>)[key]))
}
