import { createOverlayStore } from '@tranche/cluster'
import type { Lists } from '@tranche/kube-client'
import type { KubeObject } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'

const key = { namespace: 'demo', name: 'agent' }

function at(resourceVersion: string, uid = 'uid-1'): KubeObject {
  return { metadata: { ...key, uid, resourceVersion } }
}

/** State of a reflector, set by the test; other namespaces have newer lists and positions. */
function setUp(shown: KubeObject | undefined) {
  const seen = { shown, position: shown?.metadata.resourceVersion ?? '0', lists: { begun: 1, done: 1 } }
  const store = { get: () => seen.shown, size: 1, list: () => [], byIndex: () => [] }
  const positionOf = (namespace: string): string => (namespace === key.namespace ? seen.position : '9999')
  const listsOf = (namespace: string): Lists => (namespace === key.namespace ? seen.lists : { begun: 9, done: 99 })
  const reported: KubeObject[] = []
  const overlay = createOverlayStore({ store, positionOf, listsOf }, (object) => reported.push(object))
  return { seen, overlay, reported, version: () => overlay.get(key)?.metadata.resourceVersion }
}

describe('the newest state of an object', () => {
  it('is the response to a write until the watch has it', () => {
    const { seen, overlay, version } = setUp(at('5'))
    overlay.learn(at('9'))
    expect(version()).toBe('9')
    seen.shown = at('10')
    expect(version()).toBe('10')
  })

  it('is that of a list requested after the response, even if the server was restored and counts from an older version', () => {
    const { seen, overlay, version } = setUp(at('500'))
    overlay.learn(at('900'))
    seen.lists = { begun: 2, done: 2 }
    seen.shown = at('420')
    expect(version()).toBe('420')
    overlay.learn(at('421'))
    expect(version()).toBe('421')
  })

  it('is absent if such a list does not show it', () => {
    const { seen, overlay, version } = setUp(undefined)
    overlay.learn(at('900'))
    seen.lists = { begun: 2, done: 2 }
    seen.position = '420'
    expect(version()).toBeUndefined()
  })

  it('stays the response while a list is applied that was requested before it', () => {
    const { seen, overlay, version } = setUp(at('500'))
    seen.lists = { begun: 2, done: 1 }
    overlay.learn(at('900'))
    seen.lists = { begun: 2, done: 2 }
    seen.shown = at('800')
    expect(version()).toBe('900')
  })

  it('is the response about an object that the watch does not show yet, until the watch is past it', () => {
    const { seen, overlay, version } = setUp(undefined)
    overlay.learn(at('9'))
    expect(version()).toBe('9')
    seen.position = '9'
    expect(version()).toBeUndefined()
  })

  it('reports every response, even an older one', () => {
    const { overlay, reported } = setUp(at('5'))
    const answers = [at('9'), at('8')]
    for (const answer of answers) overlay.learn(answer)
    expect(reported).toEqual(answers)
  })

  it('is not an older response that comes late', () => {
    const { overlay, version } = setUp(at('5'))
    overlay.learn(at('9'))
    overlay.learn(at('8'))
    expect(version()).toBe('9')
  })
})
