import { expect, it } from 'vitest'
import { functionsOf } from './function-shapes.ts'
import { layers } from './layers.ts'
import { filesOf } from './source-tree.ts'

/** A longer function does more than one thing. Suites of conformance tests are lists of cases. */
const MAX_LINES = 60

it.each(layers.flatMap((layer) => layer.packages).filter((name) => !name.endsWith('-conformance')))(
  `%s has no function of more than ${MAX_LINES} lines`,
  (name) => {
    const long = filesOf(name, 'src').flatMap(functionsOf)
    expect(long.filter(({ lines }) => lines > MAX_LINES).map(({ where, lines }) => `${where}: ${lines}`)).toEqual([])
  },
)
