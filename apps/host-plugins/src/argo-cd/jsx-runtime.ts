import { createElement, type ElementType, Fragment, type Key, type ReactElement, type ReactNode } from 'react'

/**
 * The automatic JSX runtime over `createElement` of the host: elements of another copy of React are not elements for the host, and Argo CD
 * before version 3.5 has no global for its own runtime.
 */
export function jsx(type: ElementType, props: object, key?: Key): ReactElement {
  return createElement(type, key === undefined ? props : { ...props, key })
}

/** The same for several children, which need no keys. */
export function jsxs(type: ElementType, { children, ...props }: { readonly children: readonly ReactNode[] }, key?: Key): ReactElement {
  return createElement(type, key === undefined ? props : { ...props, key }, ...children)
}

export { Fragment }
