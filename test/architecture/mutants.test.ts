import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { mutants } from '../../scripts/mutants/all.ts'
import { bluntMutants } from '../../scripts/mutants/bench/all.ts'

it('every mutant matches its source once, and names existing tests', () => {
  const unusable = mutants.filter(({ file, find, tests }) => {
    if (![file, ...tests].every((path) => existsSync(path))) return true
    return readFileSync(file, 'utf8').split(find).length !== 2
  })
  expect(unusable).toEqual([])
})

it('no two mutants are the same', () => {
  const places = mutants.map(({ file, find, replace }) => JSON.stringify([file, find, replace]))
  expect(places.filter((place, at) => places.indexOf(place) < at)).toEqual([])
})

it('every guarantee has at least five blunt mutants, and their edits match the source once', () => {
  const enough = [...Map.groupBy(bluntMutants, ({ guarantee }) => guarantee)].filter(([, own]) => own.length >= 5)
  expect(enough.map(([guarantee]) => guarantee)).toEqual(Array.from({ length: 12 }, (_, at) => `G${at + 1}`))
  const unusable = bluntMutants.flatMap(({ id, edits }) =>
    edits.filter(({ file, find }) => readFileSync(file, 'utf8').split(find).length !== 2).map(({ file, find }) => ({ id, file, find })),
  )
  expect(unusable).toEqual([])
})
