for (const chooser of document.querySelectorAll(".chooser")) {
  const slider = chooser.querySelector(".slider");
  if (!slider) continue;
  const input = slider.querySelector("input");
  const chosen = slider.querySelector(".chosen");
  const choices = [...chooser.querySelectorAll(".choice")];
  const show = () => {
    const name = choices[input.value].dataset.name;
    choices.forEach((choice, place) => choice.classList.toggle("other", place !== Number(input.value)));
    chosen.textContent = name;
    input.setAttribute("aria-valuetext", name);
  };
  input.addEventListener("input", show);
  chooser.classList.add("live");
  slider.hidden = false;
  show();
}
