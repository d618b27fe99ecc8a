import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

describe('an external artifact that a build pulls', () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8')

  it('is a base image with a digest, in every stage', () => {
    const stages = [...dockerfile.matchAll(/^FROM (?:--\S+ )*(\S+)/gm)].map(([, image]) => image)
    expect(stages.length).toBeGreaterThan(0)
    for (const image of stages) expect(image).toMatch(/^\$\{NODE_IMAGE\}$/)
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=\S+:\S+@sha256:[0-9a-f]{64}$/m)
  })

  it('is not an image that parses the Dockerfile', () => {
    expect(dockerfile).not.toMatch(/^#\s*syntax\s*=/im)
  })

  it('is an action with a commit, in every example', () => {
    const texts = readdirSync('examples/ci').map((name) => readFileSync(join('examples/ci', name), 'utf8'))
    const actions = texts.flatMap((text) => [...text.matchAll(/\buses:\s*(\S+)/g)].map(([, action]) => action))
    expect(actions.length).toBeGreaterThan(0)
    for (const action of actions) expect(action).toMatch(/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/)
  })
})
