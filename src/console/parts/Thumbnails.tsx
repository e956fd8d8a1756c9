// Media as thumbnails where browsers show them, else as their type and size.
// Must not know where the media are from.
import { count } from "../format.ts"
import { isPicture, type Media } from "../mediaIn.ts"

export const Thumbnails = ({ media }: { readonly media: ReadonlyArray<Media> }) =>
  media.length === 0 ? null : (
    <ul class="media">
      {media.map((one, at) => (
        <li key={at}>
          {isPicture(one) ? <img src={`data:${one.type};base64,${one.data}`} alt={`Picture ${at + 1}`} /> : null}
          <span class="muted">
            {one.type}, {count(Math.floor((one.data.length * 3) / 4))} bytes
          </span>
        </li>
      ))}
    </ul>
  )
