import { describe, expect, it } from 'vitest'
import { layers } from './layers.ts'
import { filesOf, parseSource } from './source-tree.ts'
import { inheritingReadsOf } from './user-keys.ts'

const everyone = layers.flatMap(({ packages }) => packages)

describe('maps with keys of users', () => {
  it.each(everyone)('%s reads them with valueIn or Object.hasOwn, so that no member of Object.prototype counts', (name) => {
    expect(filesOf(name, 'src').flatMap(inheritingReadsOf)).toEqual([])
  })

  it.each([
    'labels[key]',
    'node.metadata.labels?.[rule.topologyKey]',
    'node.metadata.labels![key]',
    '(metadata.annotations ?? {})[key]',
    'nodeSelector[key]',
    'key in labels',
    'texts[reason]',
  ])('%s is found', (code) => {
    expect(readsIn(code)).toEqual([`a.ts:2 ${code.replace(/^\((.*)\)$/, '$1')}`])
  })

  it.each([
    "labels['app']",
    'labels[REVISION_HASH_LABEL]',
    'annotations[daemonSetAnnotations.paused]',
    'daemonSetAnnotations.paused in annotations',
    "'a' in labels",
    'valueIn(labels, key)',
    'list[index]',
    'ownLabels[type]',
  ])('%s is allowed', (code) => {
    expect(readsIn(code)).toEqual([])
  })
})

function readsIn(code: string): readonly string[] {
  return inheritingReadsOf(
    parseSource(
      'a.ts',
      `const texts: Readonly<Record<string, string>> = {}; const ownLabels: Readonly<Record<Type, string>> = {}\nvoid (${code})\n`,
    ),
  )
}
