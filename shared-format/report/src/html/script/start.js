byId("app").hidden = false;
const page = new Page(JSON.parse(byId("data").textContent));
page.themed();
page.takeKeys();
