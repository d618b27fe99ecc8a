export { bodyText, type Exchange, type WireRequest, type WireResponse } from './exchange.ts'
